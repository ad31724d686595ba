import type { Database } from '../stores/database.ts'
import type { Mail } from './smtp-mailer.ts'
import { membersOf } from '../accounts/groups.ts'
import type { MailQueue } from './mail-queue.ts'
import { isMailAddress, linkMail, type MailTexts } from './link-mail.ts'
import { ADMINS, findUser } from '../accounts/users.ts'

interface Dependencies {
  readonly database: Database
  readonly mails: MailQueue
  /** The base address of the service. */
  readonly address: () => string
}

/** Mails to the administrators whose names are mail addresses. */
export class AdminMails {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** Queues a mail to each. @param page the link leads to, relative to the base address */
  add(page: string, textsFor: (language: string | undefined) => MailTexts): void {
    const { database, mails } = this.#deps
    mails.add(async () => {
      for (const id of await membersOf(database, ADMINS)) mails.add(() => mailToUser(this.#deps, id, page, textsFor))
      return undefined
    })
  }
}

/**
 * A mail with a link for a user; `undefined` for a user who gets no mail. @param page the page of the link, relative to the base address
 */
export async function mailToUser(
  deps: Pick<Dependencies, 'database' | 'address'>,
  id: string,
  page: string,
  textsFor: (language: string | undefined) => MailTexts,
): Promise<Mail | undefined> {
  const user = await findUser(deps.database, id)
  if (user?.name === undefined || user.disabled || !isMailAddress(user.name)) return undefined
  const address = deps.address()
  return linkMail(textsFor(user.language), { name: user.name, link: address + page, address })
}
