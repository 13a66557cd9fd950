// What we change of Swagger UI: descriptions are text, never HTML; no part of the page is ours twice; and each route has
// samples. Only what its manual describes: https://swagger.io/docs/open-source-tools/swagger-ui/customization/plugin-api/
import { LANGUAGES, sampleOf, type Document, type Language } from './samples';

type Props = Record<string, any>;
type System = { React: any };

let chosen: Language = 'curl';

/** `code` and paragraphs: all that our descriptions use. No HTML is made of a text. */
function textOf(React: any, source: string) {
  return source.split(/\n{2,}/).map((paragraph, i) => React.createElement('p', { key: i },
    ...paragraph.split(/(`[^`]+`)/).map((part) => (/^`.+`$/.test(part) ? React.createElement('code', null, part.slice(1, -1)) : part))));
}

function samplesOf(React: any, document: Document, path: string, method: string) {
  function Samples() {
    const [language, choose] = React.useState(chosen);
    const text = sampleOf(document, path, method, language, window.location.origin);
    const buttons = LANGUAGES.map((name) => React.createElement('button', {
      key: name, type: 'button', className: 'sample-language', 'aria-pressed': name === language,
      onClick: () => { chosen = name; choose(name); },
    }, name));
    return React.createElement('section', { className: 'samples', 'aria-label': 'Samples' },
      React.createElement('div', { className: 'sample-languages', role: 'group', 'aria-label': 'Language' }, ...buttons),
      React.createElement('pre', { tabIndex: 0, 'aria-label': `${language} sample` }, text));
  }
  return Samples;
}

export function plugin(document: () => Document) {
  const nothing = () => () => null;
  return {
    wrapComponents: {
      Markdown: (_original: unknown, { React }: System) => ({ source }: Props) => React.createElement('div', { className: 'text' }, ...textOf(React, source ?? '')),
      InfoContainer: nothing,
      ServersContainer: nothing,
      // Its heading is ours: there is one group on the page.
      OperationTag: (_original: unknown, { React }: System) => ({ children }: Props) => React.createElement('section', { 'aria-label': 'Routes' },
        React.createElement('h3', { className: 'unseen' }, 'Routes'), children),
      responses: (Original: unknown, { React }: System) => {
        const made = new Map<string, unknown>(); // a component of its own for each route, so that its state stays
        return (props: Props) => {
          if (!document().paths[props.path]) return React.createElement(Original, props); // a notification: this server sends it
          const key = `${props.method} ${props.path}`;
          if (!made.has(key)) made.set(key, samplesOf(React, document(), props.path, props.method));
          return React.createElement('div', null, React.createElement(made.get(key)), React.createElement(Original, props));
        };
      },
    },
  };
}
