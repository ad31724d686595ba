import { useState } from 'preact/hooks'
import { t } from '../lib/language.ts'
import { tell } from './toast.tsx'

/** For a dialog with a secret that is not shown again: Escape closes it only after it has been copied or saved. */
export function useSecretKept(onClose: () => void) {
  const [isKept, setKept] = useState(false)
  return {
    keep: () => setKept(true),
    onEscape: isKept ? onClose : () => tell(t('secretNotKept')),
  }
}
