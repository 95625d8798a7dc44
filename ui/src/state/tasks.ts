// The list of tasks and the one that is open: folds over events.
import type { RowGroup, TaskRow, TaskView } from '../ipc';

export const GROUPS: RowGroup[] = ['needsYou', 'working', 'waiting', 'earlier'];

/** The rows with one of them new or changed; newest first, because ids sort by time. */
export function rowsAfter(rows: TaskRow[], row: TaskRow): TaskRow[] {
  const at = rows.findIndex((known) => known.id === row.id);
  if (at >= 0) return rows.with(at, row);
  const before = rows.findIndex((known) => known.submittedAt <= row.submittedAt);
  return before < 0 ? [...rows, row] : rows.toSpliced(before, 0, row);
}

/** A view made without a look at the stage keeps the hunks that are known. */
export function viewAfter(known: TaskView | null, view: TaskView): TaskView {
  if (view.hunks !== null || known?.id !== view.id) return view;
  return { ...view, hunks: known.hunks };
}

export function grouped(rows: TaskRow[]): { group: RowGroup; rows: TaskRow[] }[] {
  const groups = GROUPS.map((group) => ({ group, rows: rows.filter((row) => row.group === group) }));
  return groups.filter((group) => group.rows.length > 0);
}
