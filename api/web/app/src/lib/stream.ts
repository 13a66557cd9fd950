/** The shared worker of all tabs: a relay, with a port to each. */
import { Relay, type News } from './relay';

const relay = new Relay();

addEventListener('connect', (event) => {
  const port = (event as MessageEvent).ports[0];
  const tab = (news: News) => port.postMessage(news);
  port.addEventListener('message', ({ data }) => { if (data === 'show') relay.show(tab); else relay.hide(tab); });
  port.start();
});
