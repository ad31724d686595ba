import { type ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Confirm } from '../../components/dialog.tsx'
import { tell, tellFailure, undoBy } from '../../components/toast.tsx'
import type { Access } from '../../lib/access.ts'
import { t } from '../../lib/language.ts'
import { navigate } from '../../lib/router.tsx'
import { tellRole } from './access-rows.tsx'

interface RemovalProps {
  /** Whether the person gives up access of their own, and is asked before. */
  readonly isOwn: (access: Access) => boolean
  readonly work: (access: Access) => Promise<void>
  readonly giveBack: (access: Access) => Promise<void>
  /** Whether the person may still change the permissions after the removal. */
  readonly isStillOwner: () => Promise<boolean>
  readonly again: () => void
}

interface Removal {
  readonly remove: (access: Access) => Promise<void>
  /** The open question, to be drawn somewhere on the page. */
  readonly question: ComponentChildren
}

/** Removes access. *Undo* is offered only to those who may still do it. */
export function useRemoval({ isOwn, work, giveBack, isStillOwner, again }: RemovalProps): Removal {
  const [asked, setAsked] = useState<Access>()
  const run = async (access: Access): Promise<void> => {
    try {
      await work(access)
      if (await isStillOwner()) {
        tell(
          t('accessRemoved'),
          undoBy(() => giveBack(access), again),
        )
        again()
      } else {
        tell(t('accessRemoved'))
        navigate('')
      }
    } catch (error) {
      tellFailure(error)
    }
  }
  const question = asked && (
    <Confirm
      title={t('leaveAccess')}
      text={t('leaveAccessText', { role: tellRole(asked.role) })}
      action={t('giveUpAccess')}
      onConfirm={() => run(asked)}
      onClose={() => setAsked(undefined)}
    />
  )
  return { remove: async access => (isOwn(access) ? setAsked(access) : await run(access)), question }
}
