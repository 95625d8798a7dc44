// What a person decided about each hunk, and the words that differ inside a pair of changed lines.
import type { HunkView, LineView } from '../ipc';

export type Choice = 'accepted' | 'returned';
export type Choices = Record<number, Choice>;

export function accepted(choices: Choices, hunks: HunkView[]): number[] {
  return hunks.map((hunk) => hunk.index).filter((index) => choices[index] === 'accepted');
}

/** The next hunk without a decision after `from`, else the next one. */
export function nextOpen(hunks: HunkView[], choices: Choices, from: number): number {
  const at = hunks.findIndex((hunk) => hunk.index === from);
  const later = [...hunks.slice(at + 1), ...hunks.slice(0, at + 1)];
  return later.find((hunk) => !choices[hunk.index])?.index ?? hunks[Math.min(at + 1, hunks.length - 1)]?.index ?? 0;
}

export interface NumberedLine extends LineView {
  old: number | null;
  new: number | null;
  /** The part that differs from the line's partner: [start, end) in UTF-16 units; empty without a partner. */
  from: number;
  to: number;
}

/** Lines with their numbers; the i-th removed line of a run is compared with the i-th added one. */
export function numbered(hunk: HunkView): NumberedLine[] {
  let oldLine = hunk.oldStart;
  let newLine = hunk.newStart;
  const lines: NumberedLine[] = hunk.lines.map((line) => {
    const old = line.mark === 'added' ? null : oldLine++;
    const fresh = line.mark === 'removed' ? null : newLine++;
    return { ...line, old, new: fresh, from: 0, to: 0 };
  });
  let removed: NumberedLine[] = [];
  for (const line of lines) {
    if (line.mark === 'removed') removed.push(line);
    else if (line.mark === 'added' && removed.length > 0) markPair(removed.shift() as NumberedLine, line);
    else removed = [];
  }
  return lines;
}

function markPair(old: NumberedLine, fresh: NumberedLine): void {
  let start = 0;
  const shortest = Math.min(old.text.length, fresh.text.length);
  while (start < shortest && old.text[start] === fresh.text[start]) start++;
  let end = 0;
  while (end < shortest - start && old.text.at(-1 - end) === fresh.text.at(-1 - end)) end++;
  // A pair that shares little is not a pair: marking all of it says nothing.
  if (start + end < shortest / 3) return;
  [old.from, old.to] = [start, old.text.length - end];
  [fresh.from, fresh.to] = [start, fresh.text.length - end];
}
