/** The shared worker of all tabs: a relay, with a port to each. */
import { Relay, type News, type Word } from './relay';

const relay = new Relay();

addEventListener('connect', (event) => {
  const port = (event as MessageEvent).ports[0];
  const tab = (news: News) => port.postMessage(news);
  port.addEventListener('message', ({ data }) => relay[data as Word](tab));
  port.start();
});
