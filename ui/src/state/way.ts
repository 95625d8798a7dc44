// The way of a task as its page shows it: seven places, each behind, here or ahead.
import type { Stage, TaskView } from '../ipc';

export const WAY = ['brief', 'plan', 'swarm', 'tests', 'review', 'change', 'receipt'] as const;
export type Place = (typeof WAY)[number];
/** Behind, at work, waiting for the user, ahead. */
export type Mark = 'done' | 'now' | 'you' | 'open' | 'fell';

const AT: Record<Stage, Place> = {
  brief: 'brief',
  plan: 'plan',
  approvePlan: 'plan',
  swarm: 'swarm',
  packet: 'review',
  decidePacket: 'review',
  review: 'review',
  decide: 'change',
  landed: 'receipt',
  discarded: 'receipt',
  cancelled: 'receipt',
  failed: 'receipt',
};

/** The section a task is at. */
export function placeOf(task: TaskView): Place {
  if (task.stage === 'swarm' && workingRole(task) === 'tester') return 'tests';
  return AT[task.stage];
}

function workingRole(task: TaskView): string | undefined {
  return task.plan?.steps.find((step) => step.state.kind === 'working')?.role;
}

/** Sections that have something to show. */
export function reached(task: TaskView): Record<Place, boolean> {
  const steps = task.plan?.approved ? task.plan.steps : [];
  return {
    brief: task.brief !== null,
    plan: task.plan !== null,
    swarm: steps.length > 0,
    tests: steps.some((step) => step.state.kind === 'tested' || (step.role === 'tester' && step.candidates.length > 0)),
    review: task.packet !== null,
    change: (task.hunks?.length ?? 0) > 0,
    receipt: task.receipt.rows.length > 0,
  };
}

export function marks(task: TaskView): Record<Place, Mark> {
  const here = WAY.indexOf(placeOf(task));
  const has = reached(task);
  const ended = task.end !== null;
  const mark = (place: Place, at: number): Mark => {
    if (task.stage === 'landed') return 'done';
    if (ended) return has[place] ? 'done' : 'open';
    if (at === here) return task.needsYou ? 'you' : 'now';
    return at < here ? 'done' : 'open';
  };
  return Object.fromEntries(WAY.map((place, at) => [place, mark(place, at)])) as Record<Place, Mark>;
}
