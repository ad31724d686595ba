import { mailToUser } from '../../mails/admin-mails.ts'
import { membersOf } from '../../accounts/groups.ts'
import type { MailQueue } from '../../mails/mail-queue.ts'
import type { MailTexts } from '../../mails/link-mail.ts'
import { ADMINS } from '../../accounts/users.ts'
import type { ReachedThreshold } from '../../files/quota-thresholds.ts'
import type { QuotaOwner } from '../../files/quota-usage.ts'
import { CONTEXTS, principalIn } from '../../model/addresses.ts'
import type { Database } from '../../stores/database.ts'
import { findContext } from '../../content/contexts.ts'
import { findEntryHead } from '../../content/entry-records.ts'

/** The owner of a quota, and how much of the quota is used. */
export interface FilledQuota {
  readonly kind: QuotaOwner['kind']
  /** The name of a context or group. */
  readonly name: string
  readonly percent: number
}

interface Dependencies {
  readonly database: Database
  readonly mails: MailQueue
  /** The base address of the service. */
  readonly address: () => string
  readonly textsFor: (filled: FilledQuota, language: string | undefined) => MailTexts
}

/** Tells people by mail that a quota is nearly or completely used. */
export class QuotaMails {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** Queues a mail to everyone who can act: the user, who administers the context, or the administrators. */
  add({ percent, usage: { owner } }: ReachedThreshold): void {
    const { mails, textsFor } = this.#deps
    mails.add(async () => {
      const filled = { kind: owner.kind, name: await this.#nameOf(owner), percent }
      for (const id of await this.#recipients(owner))
        mails.add(() => mailToUser(this.#deps, id, pageOf(owner), language => textsFor(filled, language)))
      return undefined
    })
  }

  /** Ids of users. */
  async #recipients({ kind, id }: QuotaOwner): Promise<ReadonlySet<string>> {
    const { database } = this.#deps
    if (kind === 'user') return new Set([id])
    if (kind !== 'context') return new Set(await membersOf(database, ADMINS))
    const entry = await findEntryHead(database, { context: CONTEXTS, id })
    const named = (entry?.acl.admin ?? []).flatMap(iri => principalIn(iri) ?? [])
    const members = await Promise.all(named.map(principal => membersOf(database, principal)))
    return new Set([...named, ...members.flat()])
  }

  async #nameOf({ kind, id }: QuotaOwner): Promise<string> {
    return kind === 'context' ? ((await findContext(this.#deps.database, id))?.name ?? id) : id
  }
}

/** The page that shows the quota, relative to the base address. */
function pageOf({ kind, id }: QuotaOwner): string {
  if (kind === 'user') return 'ui/account'
  return kind === 'context' ? `ui/contexts/${encodeURIComponent(id)}/files` : 'ui/admin/quotas'
}
