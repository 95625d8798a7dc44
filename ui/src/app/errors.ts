// What happened, what is safe, what to do: words for each code of the IPC.
import { t } from '../i18n/index.svelte';
import type { IpcError } from '../ipc';

export function wordsOf(error: IpcError): { title: string; message: string; next: string } {
  return { title: t(`error.${error.code}`), message: error.message, next: error.hint || t(`error.${error.code}.do`) };
}
