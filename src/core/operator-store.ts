import type { Caller } from '../accounts/caller.ts'
import type { Queries } from '../stores/database.ts'
import type { Core } from './core.ts'

/** The services of an existing store for a person at the command line, also while a service uses it. */
export interface OperatorStore
  extends Pick<
    Core,
    | 'audit'
    | 'blobs'
    | 'cache'
    | 'changes'
    | 'creation'
    | 'database'
    | 'entries'
    | 'files'
    | 'garbage'
    | 'ledger'
    | 'loader'
    | 'log'
    | 'sessions'
    | 'settings'
    | 'system'
    | 'translateArchive'
    | 'users'
  > {
  /** Makes the rows of a new context beside its entry. */
  readonly contexts: { open(tx: Queries, id: string, name: string | undefined): Promise<void> }
  /** Has all rights. */
  readonly caller: Caller
  /** Whether this process sees the sessions of the service. */
  readonly seesSessions: boolean
}
