/** Time travel by date: the ledger that was the newest at a moment. */
import { useRef, useState } from 'preact/hooks';
import { get, type Item } from '../lib/api';
import { setQuery } from '../lib/router';
import { stamp } from '../lib/time';

const AGO: [string, number][] = [['1 hour ago', 3600], ['1 day ago', 86400], ['7 days ago', 604800], ['30 days ago', 2592000]];
const unixOf = (closedAt: string) => Math.floor(Date.parse(closedAt) / 1000);
/** A moment as the input has it, in UTC. */
const field = (unix: number) => new Date(unix * 1000).toISOString().slice(0, 16);

export function When() {
  const box = useRef<HTMLDialogElement>(null);
  const [range, setRange] = useState<{ first: Item; last: Item } | null>(null);
  const [text, setText] = useState('');
  const [said, setSaid] = useState('');
  const open = () => {
    setSaid('');
    box.current?.showModal();
    Promise.all([get('/api/ledgers', { order: 'asc', limit: 1 }, null), get('/api/ledgers', { limit: 1 }, null)]).then(([first, last]) => {
      if (!first.items[0]) return setSaid('The index has no ledger yet.');
      setRange({ first: first.items[0], last: last.items[0] });
      if (!text) setText(field(unixOf(last.items[0].closedAt)));
    }, (error) => setSaid(error.message));
  };
  const go = (unix: number) => {
    get('/api/ledgers', { to: unix + 1, limit: 1 }, null).then(({ items: [found] }) => {
      if (!found) return setSaid(`The index begins ${range ? stamp(range.first.closedAt) : 'later'}.`);
      box.current?.close();
      setQuery({ ledger: Number(found.ledger) >= Number(range?.last.ledger) ? null : found.ledger });
    }, (error) => setSaid(error.message));
  };
  const chosen = Date.parse(`${text}Z`) / 1000;
  return (
    <>
      <button type="button" onClick={open} aria-haspopup="dialog">Date</button>
      <dialog ref={box} class="search" aria-label="As of a date" onClick={(event) => { if (event.target === box.current) box.current?.close(); }}>
        <div class="search-in">
          <form class="row" onSubmit={(event) => { event.preventDefault(); if (Number.isFinite(chosen)) go(chosen); }}>
            <label>Everything as of <input type="datetime-local" value={text} min={range ? field(unixOf(range.first.closedAt)) : undefined} onInput={(event) => setText(event.currentTarget.value)} /> UTC</label>
            <button type="submit" disabled={!Number.isFinite(chosen)}>Show</button>
          </form>
          <div class="row" role="group" aria-label="Before the newest ledger">{AGO.map(([name, s]) =>
            <button key={name} type="button" disabled={!range} onClick={() => range && go(unixOf(range.last.closedAt) - s)}>{name}</button>)}</div>
          {range && <p class="dim">{`The index has ledgers ${range.first.ledger} to ${range.last.ledger}: ${stamp(range.first.closedAt)} to ${stamp(range.last.closedAt)}.`}</p>}
          {said && <p class="notice warn" role="status">{said}</p>}
        </div>
      </dialog>
    </>
  );
}
