// Why a step failed, in words.
import { t } from '../../i18n/index.svelte';
import type { FailureKind } from '../../ipc';

export function failure(kind: FailureKind): string {
  switch (kind.kind) {
    case 'noCandidate':
      return t('failure.noCandidate', { tried: kind.tried, gate: t(`gate.${kind.gate}`), example: kind.example });
    case 'contextTooLarge':
      return t('failure.contextTooLarge', { need: kind.need, have: kind.have });
    case 'notRun':
      return t('failure.notRun', { why: kind.why });
    case 'model':
      return t('failure.model', { message: kind.message });
  }
}
