// What happens at this moment and need not survive: token streams, speed, the command that runs. Dropped when a task rests.
import type { ProgressView, Role } from '../ipc';

export interface Live {
  role: Role;
  model: string;
  candidates: number;
  /** Still writing. */
  alive: number;
  speed: number;
  /** The last speeds, oldest first, for the spark line. */
  speeds: number[];
  /** The command in the sandbox, or "". */
  running: string;
  /** The end of each candidate's text. */
  texts: Record<number, string>;
}

const SPEEDS = 24;
const TAIL = 600;

export function liveAfter(before: Live | undefined, progress: ProgressView): Live {
  const fresh: Live = {
    role: 'executor',
    model: '',
    candidates: 0,
    alive: 0,
    speed: 0,
    speeds: [],
    running: '',
    texts: {},
  };
  const live = before ?? fresh;
  switch (progress.kind) {
    case 'roleStarted':
      return {
        ...fresh,
        role: progress.role,
        model: progress.model,
        candidates: progress.candidates,
        alive: progress.candidates,
        speeds: live.speeds,
      };
    case 'text': {
      const text = ((live.texts[progress.candidate] ?? '') + progress.text).slice(-TAIL);
      return { ...live, running: '', texts: { ...live.texts, [progress.candidate]: text } };
    }
    case 'speed': {
      const speed = progress.tokensPerSecond;
      return { ...live, speed, alive: progress.live, speeds: [...live.speeds, speed].slice(-SPEEDS) };
    }
    case 'running':
      return { ...live, running: progress.what, speed: 0 };
  }
}
