// The QR code of a link, for /kyc. Loaded when the visitor asks for it.
import { correction, generate } from 'lean-qr';

const QUIET = 4; // modules around it, as ISO/IEC 18004 asks for

export function draw(link: string): HTMLCanvasElement {
  const code = generate(link, { minCorrectionLevel: correction.M });
  const canvas = document.createElement('canvas');
  code.toCanvas(canvas, { on: [0, 0, 0, 255], off: [255, 255, 255, 255], pad: QUIET }); // a pixel a module; the style enlarges it
  return canvas;
}
