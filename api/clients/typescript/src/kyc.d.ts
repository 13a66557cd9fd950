/** An identity check in your own page. Attributes, events and CSS properties: the README of the package. */
export declare class TidemarkKyc extends HTMLElement {
  /** What your server answered when it opened the session. Setting it begins. */
  session: { sessionId: string; startUrl: string; embedUrl: string; [name: string]: unknown } | null;
  /** Asks `session-url` for a session and begins. */
  start(): Promise<void>;
  /** Ends the display. The check itself goes on at the provider. */
  stop(): void;
}

declare global {
  interface HTMLElementTagNameMap {
    'tidemark-kyc': TidemarkKyc;
  }
}
