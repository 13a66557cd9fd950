import { render } from 'preact';
import './style.css';
import './lib/theme';
import { App } from './ui/shell';
import { startStream } from './lib/live';

render(<App />, document.getElementById('app') as HTMLElement);
startStream();
