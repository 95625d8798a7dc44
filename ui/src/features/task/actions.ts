// What a person can do to a task; the app carries it out.
import type { PlanEdit, SendChoice } from '../../ipc';

export interface TaskActions {
  approve: (plan: PlanEdit) => void;
  packet: (send: boolean) => void;
  sendPolicy: (choice: SendChoice) => void;
  land: (hunks: number[]) => void;
  discard: () => void;
  cancel: () => void;
  resume: () => void;
  back: () => void;
  settings: () => void;
}
