import type { FileRow } from '../../backup/copy-blobs.ts'
import { Conflict } from '../../base/errors.ts'
import type { OperatorStore } from '../../core/operator-store.ts'
import type { Incoming } from '../../files/staging.ts'
import type { BaseAddress } from '../../http/base-address.ts'
import type { ContextStore } from './context-of-backup.ts'

/** A context of a backup of which all or something is to be restored. */
export interface RestoredPart {
  /** The store that gets it. */
  readonly store: OperatorStore
  /** What the backup has of the context. */
  readonly copy: ContextStore
  /** Its id. */
  readonly context: string
  /** When the backup was made. */
  readonly created: string
  /** Whether it may take the place of what is there. */
  readonly replaces: boolean
  /** Leaves the damaged files out of the copy, and resolves to them. @param only ids of the entries that are wanted */
  readonly dropDamaged: (only?: ReadonlySet<string>) => Promise<readonly FileRow[]>
  /** @param only ids of the entries that are wanted */
  readonly archive: (only?: ReadonlySet<string>) => Promise<Incoming>
  /** Of the archive. */
  readonly form: BaseAddress
}

/** Refuses to replace files that may be intact by damaged ones. @throws {Conflict} */
export function requireIntact(damaged: readonly FileRow[]): void {
  if (damaged.length === 0) return
  const names = damaged.map(({ context, entry }) => `${context}/${entry}`).join(', ')
  throw new Conflict(
    'conflict',
    `Nothing was replaced, because this backup has no intact bytes of ${names}. Keep what the store has, or name an older backup with --at.`,
  )
}
