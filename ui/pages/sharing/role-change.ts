import { tell, tellFailure, undoBy } from '../../components/toast.tsx'
import type { Access, Role } from '../../lib/access.ts'
import { t } from '../../lib/language.ts'
import { visible } from '../../lib/text.ts'
import { type AccessRow, tellRole } from './access-rows.tsx'

interface RoleChange {
  /** Replaces one role of a user or group by another, with one request. */
  readonly work: (from: Access, to: Access) => Promise<void>
  /** Whether the person may still change the permissions afterwards. */
  readonly isStillOwner: () => Promise<boolean>
  readonly again: () => void
}

/** Gives somebody in the list another role. *Undo* is offered only to those who may still do it. */
export const roleChange =
  ({ work, isStillOwner, again }: RoleChange) =>
  async ({ principal, name, role: before }: AccessRow, role: Role): Promise<void> => {
    const [from, to] = [
      { principal, role: before },
      { principal, role },
    ]
    try {
      await work(from, to)
      const undo = (await isStillOwner()) ? undoBy(() => work(to, from), again) : undefined
      tell(t('permissionChanged', { name: visible(name), role: tellRole(role) }), undo)
    } catch (error) {
      tellFailure(error)
    }
    again()
  }
