// A plan while it is edited: goals, what must hold, order, removal. What may be written stays as it was validated.
import type { PlanEdit, PlanView, StepEdit } from '../ipc';

export function editOf(plan: PlanView): StepEdit[] {
  return plan.steps.map(({ id, goal, acceptance }) => ({ id, goal, acceptance: [...acceptance] }));
}

export function moved(steps: StepEdit[], id: string, by: -1 | 1): StepEdit[] {
  const at = steps.findIndex((step) => step.id === id);
  const to = at + by;
  const step = steps[at];
  if (!step || to < 0 || to >= steps.length) return steps;
  return steps.toSpliced(at, 1).toSpliced(to, 0, step);
}

export function without(steps: StepEdit[], id: string): StepEdit[] {
  return steps.filter((step) => step.id !== id);
}

export function withGoal(steps: StepEdit[], id: string, goal: string): StepEdit[] {
  return steps.map((step) => (step.id === id ? { ...step, goal } : step));
}

/** Why the plan cannot be approved as it stands: a step that comes before one it needs, or `null`. */
export function outOfOrder(plan: PlanView, steps: StepEdit[]): { step: string; needs: string } | null {
  const at = new Map(steps.map((step, index) => [step.id, index]));
  for (const [index, { id }] of steps.entries()) {
    const needs = plan.steps.find((step) => step.id === id)?.dependsOn ?? [];
    const late = needs.find((need) => (at.get(need) ?? -1) > index);
    if (late) return { step: id, needs: late };
  }
  return null;
}

export function planEdit(steps: StepEdit[]): PlanEdit {
  return { steps };
}
