// The body of a request in lines that can be read, without changing a character: joined again they are the exact bytes.

export type PartKind = 'text' | 'escape' | 'redacted';
export interface PacketLine {
  kind: 'added' | 'removed' | 'title' | '';
  parts: { kind: PartKind; text: string }[];
}

/** Breaks after each escaped line end (in JSON) or each line end (in text); marks of secrets stand alone. */
export function packetLines(body: string, marks: string[]): PacketLine[] {
  const pieces = body.split(/(?<=\\n|\n)/);
  return pieces.map((piece) => ({ kind: kindOf(piece), parts: parts(piece, marks) }));
}

function kindOf(piece: string): PacketLine['kind'] {
  if (piece.startsWith('## ')) return 'title';
  if (/^\+(?!\+\+)/.test(piece)) return 'added';
  return /^-(?!--)/.test(piece) ? 'removed' : '';
}

function parts(piece: string, marks: string[]): PacketLine['parts'] {
  const escaped = marks.map((mark) => mark.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const split = piece.split(new RegExp(`(${[...escaped, '\\\\n$'].join('|')})`));
  return split
    .filter((text) => text !== '')
    .map((text) => ({ kind: marks.includes(text) ? 'redacted' : text === '\\n' ? 'escape' : 'text', text }));
}
