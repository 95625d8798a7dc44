// What a line of the list says and which shape it has, from the state alone.
import type { Shape } from '../../components/Mark.svelte';
import { say, t } from '../../i18n/index.svelte';
import type { RowState, Stage } from '../../ipc';

export interface Line {
  shape: Shape;
  /** The state in words; carries the tone. */
  head: string;
  tone: 'you' | 'ok' | 'bad' | '';
  detail: string;
  dim: boolean;
}

export function lineOf(state: RowState): Line {
  const line = (shape: Shape, head: string, detail = '', tone: Line['tone'] = '', dim = false): Line => {
    return { shape, head, tone, detail, dim };
  };
  switch (state.kind) {
    case 'approvePlan': {
      const detail = `${t('row.steps', { n: state.steps })}, ${t('row.files', { n: state.files })}`;
      return line('you', t('row.approvePlan'), detail, 'you');
    }
    case 'readPacket': {
      const price =
        state.worstCaseUsd === null ? '' : `, ${t('row.atMost', { price: say.dollars(state.worstCaseUsd) })}`;
      return line('you', t('row.readPacket'), say.bytes(state.bytes) + price, 'you');
    }
    case 'ready':
      return line('ready', t('row.ready'), t('row.approved', { n: state.findings }), 'ok');
    case 'needsWork':
      return line('change', needsWork(state), t('row.findings', { n: state.findings }), 'you');
    case 'working':
      return line('working', stageName(state.stage), working(state));
    case 'queued':
      return line('queued', t('row.queued'), t('row.queuedWhy'));
    case 'parked':
      return line(
        'parked',
        t('row.parked'),
        state.steps ? t('row.parkedAt', { done: state.done, steps: state.steps }) : '',
      );
    case 'stuck':
      return line('parked', t('row.stuck'), state.why, 'you');
    case 'landed':
      return line('done', t('row.landed'), t('row.hunks', { n: state.hunks }), '', true);
    case 'discarded':
      return line('gone', t('row.discarded'), t('row.nothingChanged'), '', true);
    case 'cancelled':
      return line('gone', t('row.cancelled'), t('row.nothingChanged'), '', true);
    case 'notSolved':
      return line('fell', t('row.notSolved'), state.why || t('row.nothingChanged'), 'bad');
  }
}

function needsWork(state: Extract<RowState, { kind: 'needsWork' }>): string {
  if (state.unsolved > 0) return t('row.unsolved', { n: state.unsolved });
  if (state.verdict === 'reject') return t('row.rejected');
  return state.verdict === 'change' ? t('row.asksForChange') : t('row.unproven');
}

function working(state: Extract<RowState, { kind: 'working' }>): string {
  if (state.begun > 0) return t('row.alive', { alive: state.alive, begun: state.begun });
  return state.steps > 0 ? t('row.stepsDone', { done: state.done, steps: state.steps }) : '';
}

export function stageName(stage: Stage): string {
  switch (stage) {
    case 'brief':
      return t('stage.brief');
    case 'plan':
    case 'approvePlan':
      return t('stage.plan');
    case 'swarm':
      return t('stage.swarm');
    case 'packet':
    case 'decidePacket':
      return t('stage.packet');
    case 'review':
      return t('stage.review');
    case 'decide':
      return t('stage.decide');
    case 'landed':
      return t('row.landed');
    case 'discarded':
      return t('row.discarded');
    case 'cancelled':
      return t('row.cancelled');
    case 'failed':
      return t('row.notSolved');
  }
}
