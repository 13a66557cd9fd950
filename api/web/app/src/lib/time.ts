const pad = (n: number) => String(n).padStart(2, '0');

export const seconds = (at: string) => Math.floor(Date.parse(at) / 1000);

/** "2026-01-31 07:24:04" UTC. */
export function stamp(at: string | number | null | undefined): string {
  if (at == null) return '–';
  const d = new Date(typeof at === 'number' ? at * 1000 : at);
  if (Number.isNaN(d.getTime())) return '–';
  const day = `${d.getUTCFullYear()}-${pad(d.getUTCMonth() + 1)}-${pad(d.getUTCDate())}`;
  return `${day} ${pad(d.getUTCHours())}:${pad(d.getUTCMinutes())}:${pad(d.getUTCSeconds())}`;
}

/** "3 s", "12 min", "5 h", "8 d". */
export function span(s: number): string {
  if (s < 0) return '0 s';
  if (s < 100) return `${Math.floor(s)} s`;
  if (s < 5940) return `${Math.floor(s / 60)} min`;
  if (s < 172800) return `${Math.floor(s / 3600)} h`;
  return `${Math.floor(s / 86400)} d`;
}

/** An age in steps of a minute at least. */
export const age = (s: number) => (s < 60 ? '< 1 min' : s < 100 ? '1 min' : span(s));
