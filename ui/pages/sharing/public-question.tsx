import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Confirm } from '../../components/dialog.tsx'
import { t } from '../../lib/language.ts'
import { GUEST } from './access-rows.tsx'

interface PublicQuestion {
  /** Asks before an item becomes public; resolves at once for anybody but the guest. */
  readonly isConfirmed: (principal: string) => Promise<boolean>
  /** The dialog, while the person is asked. */
  readonly question: ComponentChildren
}

/** A confirmation for access that everybody gets, without signing in. */
export function usePublicQuestion(): PublicQuestion {
  const [answer, setAnswer] = useState<(isSure: boolean) => void>()
  const isConfirmed = async (principal: string): Promise<boolean> => {
    if (principal !== GUEST) return true
    const isSure = await new Promise<boolean>(resolve => setAnswer(() => resolve))
    setAnswer(undefined)
    return isSure
  }
  const question = answer && (
    <Confirm
      title={t('everyoneConfirm')}
      text={t('everyoneConfirmText')}
      action={t('allow')}
      onConfirm={async () => answer(true)}
      onClose={() => answer(false)}
    />
  )
  return { isConfirmed, question }
}
