// Identity checks in your own page: copy this. Your server opens the session (POST /api/sdk/kyc/session with its
// X-API-Key, which must never reach a browser) and hands the answer to your page.
//
//   host     the origin of the checks: scheme, name, port
//   session  what the POST answered
//   mode     'redirect', 'iframe' or 'direct', as in the POST
//   into     iframe: the element that it goes into
//   onClose  called with the state when the person goes on to your page; the frame is gone then
//   onState  called with { state, compliant, ledger } as the check goes on: for display only. Trust only
//            GET /api/sdk/kyc/status/{address}, asked by your server.
function tidemarkKyc({ host, session, mode, into, onState, onClose = () => {} }) {
  let theirs = null;
  if (mode === 'redirect') {
    window.location.assign(session.startUrl);
    return { close() {} };
  }
  let timer = 0;
  const close = () => {
    clearInterval(timer);
    window.removeEventListener('message', hear);
    if (mode === 'iframe') into.replaceChildren();
  };
  const hear = (event) => {
    const { data } = event;
    if (event.origin !== host || event.source !== theirs || !data || data.source !== 'tidemark-kyc') return;
    if (data.sessionId !== session.sessionId) return;
    if (data.type === 'height') into.firstChild.style.height = `${Math.min(Math.max(data.height, 240), 1600)}px`;
    if (data.type === 'close') {
      close();
      onClose(data.state);
    }
    if (data.type === 'state') onState({ state: data.state, compliant: data.compliant, ledger: data.ledger });
  };
  window.addEventListener('message', hear);
  if (mode === 'iframe') {
    const frame = document.createElement('iframe');
    frame.src = session.embedUrl;
    frame.title = 'Identity check';
    frame.allow = 'camera; microphone; fullscreen; autoplay; encrypted-media; geolocation; clipboard-write';
    frame.style.cssText = 'width: 100%; height: 40rem; border: 0;';
    into.replaceChildren(frame);
    theirs = frame.contentWindow;
  } else {
    theirs = window.open(session.startUrl, '_blank');
  }
  // Messages may be lost (another tab, a closed one), so the session is polled too.
  let last = '';
  const look = async () => {
    const answer = await fetch(`${host}/api/sdk/kyc/session/${session.sessionId}`, { credentials: 'omit' }).catch(() => null);
    if (!answer || !answer.ok) return;
    const { state } = await answer.json();
    if (state !== last) onState({ state, compliant: null, ledger: null });
    last = state;
  };
  timer = setInterval(look, 5000);
  return { close };
}
