import { eventOf, type Audit } from '../../accounts/audit.ts'
import type { Caller } from '../../accounts/caller.ts'
import type { KnownUser, UserCache } from '../../accounts/user-cache.ts'
import { findGroup, membersOf } from '../../accounts/groups.ts'
import type { MailQueue } from '../../mails/mail-queue.ts'
import { isMailAddress, linkMail, type MailTexts } from '../../mails/link-mail.ts'
import { GUEST, USERS } from '../../accounts/users.ts'
import { InvalidInput, Overloaded } from '../../base/errors.ts'
import type { Seconds } from '../../base/units.ts'
import { CONTEXTS, type EntryKey } from '../../model/addresses.ts'
import { type Entry, isList } from '../../model/entry.ts'
import { hasAnyRight, requireRight } from '../../model/rights.ts'
import type { Database } from '../../stores/database.ts'
import type { EphemeralStore } from '../../stores/ephemeral-store.ts'
import { findContext } from '../../content/contexts.ts'
import type { EntryLoader } from '../../content/entry-loader.ts'
import { displayName } from '../../content/file-description.ts'
import { personalDataOf } from '../../content/provisioning.ts'

/** A user and the entry that they share. */
export interface Share {
  readonly sender: string
  readonly item: string
}

/** The base address and texts for the mails. */
export interface ShareMailOptions {
  /** The base address of the service. */
  readonly address: () => string
  /** The texts in the first of these languages that is available. */
  readonly textsFor: (share: Share, languages: ReadonlyArray<string | undefined>) => MailTexts
}

interface Dependencies extends ShareMailOptions {
  readonly database: Database
  readonly loader: EntryLoader
  readonly users: UserCache
  readonly ephemeral: EphemeralStore
  readonly mails: MailQueue
  readonly audit: Audit
}

interface Sent {
  /** How many people get a mail. */
  readonly sent: number
  /** How many get none, because their user name is not an e-mail address. */
  readonly withoutAddress: number
}

const MAX_MESSAGE = 1000
const MAX_RECIPIENTS = 50
/** Mails that one user may send in an hour. */
const MAX_MAILS = 100
const WINDOW: Seconds = 3600

/** Mails by which users tell others what they have shared with them (D18.21). */
export class ShareMails {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * Queues a mail with a link to the entry for a user, or for the members of a group, who have access to it.
   * @param principal id of the user or group
   * @throws {Overloaded} `too-many-messages`
   */
  async send(
    caller: Caller,
    key: EntryKey,
    read: () => Promise<{ readonly principal: string; readonly text?: string | undefined }>,
  ): Promise<Sent> {
    const { loader, audit, database } = this.#deps
    const target = await loader.get(key)
    requireRight(caller, 'administer', target, 'send messages about this entry')
    const { principal, text = '' } = await read()
    const message = readMessage(text)
    const recipients: KnownUser[] = []
    for (const id of await this.#idsOf(principal)) {
      const known = await this.#deps.users.find(id)
      const mayGet = known && id !== caller.user.id && !known.user.disabled
      if (mayGet && hasAnyRight({ ...known, client: caller.client }, target)) recipients.push(known)
    }
    if (recipients.length === 0) throw wrong('`principal` is nobody with access to this entry but you.')
    const addressed = recipients.filter(({ user: { name = '' } }) => isMailAddress(name))
    await this.#count(caller, addressed.length)
    const { name } = await personalDataOf(database, caller.user.id)
    const sender = name === undefined ? (caller.user.name ?? '') : `${titled(name)} (${caller.user.name})`
    const share = { sender, item: await this.#nameOf(target.entry) }
    for (const { user } of addressed) {
      this.#queue(user, { caller, share, message, page: pageOf(target.entry) })
      const entry = `${target.entry.context}/${target.entry.id}`
      await audit.record(eventOf('message-sent', caller, user, { entry }))
    }
    return { sent: addressed.length, withoutAddress: recipients.length - addressed.length }
  }

  #queue(
    { name = '', language }: KnownUser['user'],
    mail: {
      readonly caller: Caller
      readonly share: Share
      readonly message: string | undefined
      readonly page: string
    },
  ): void {
    const { mails, address, textsFor } = this.#deps
    const { caller, share, message, page } = mail
    const base = address()
    const texts = textsFor(share, [language, caller.user.language])
    const values = { name, link: base + page, address: base, message }
    mails.add(() => Promise.resolve(linkMail(texts, values)), caller.user.id)
  }

  async #idsOf(principal: string): Promise<readonly string[]> {
    const { database } = this.#deps
    if (principal === GUEST || principal === USERS)
      throw wrong('`principal` must be one user, or a group with members.')
    if (!(await findGroup(database, principal))) return [principal]
    const members = await membersOf(database, principal)
    if (members.length <= MAX_RECIPIENTS) return members
    throw wrong(`The group has ${members.length} members. A message goes to at most ${MAX_RECIPIENTS} people.`)
  }

  /** @throws {Overloaded} */
  async #count(caller: Caller, mails: number): Promise<void> {
    let isTooMany = false
    await this.#deps.ephemeral.update<number>(`access-mails:${caller.user.id}`, old => {
      isTooMany = (old ?? 0) + mails > MAX_MAILS
      if (old === undefined) return { value: mails, ttl: WINDOW * 1000 }
      return { value: isTooMany ? old : old + mails }
    })
    if (!isTooMany) return
    throw new Overloaded(`A user can send ${MAX_MAILS} messages an hour.`, WINDOW, 'too-many-messages')
  }

  async #nameOf(entry: Entry): Promise<string> {
    const name = displayName(entry)
    const isNamed = name !== entry.id || entry.context !== CONTEXTS
    return titled(isNamed ? name : ((await findContext(this.#deps.database, entry.id))?.name ?? name))
  }
}

/** The page that shows the entry to everybody with access to it, relative to the base address. */
function pageOf(entry: Entry): string {
  const [context, id] = [entry.context, entry.id].map(encodeURIComponent)
  if (entry.context === CONTEXTS) return `ui/contexts/${id}/files`
  return isList(entry) ? `ui/contexts/${context}/files/${id}` : `ui/shared?item=${context}/${id}`
}

/** Control characters other than line breaks and tabs. */
const CONTROL = /[^\P{Cc}\t\n\r]/u

/** @returns `undefined` for no text @throws {InvalidInput} */
function readMessage(text: string): string | undefined {
  if (text.length > MAX_MESSAGE) throw wrong(`\`text\` has ${text.length} characters. The limit is ${MAX_MESSAGE}.`)
  if (CONTROL.test(text)) throw wrong('`text` must have no control characters.')
  const message = text.replaceAll(/\r\n?/g, '\n').trim()
  return message === '' ? undefined : unlinked(message)
}

/** Mail programs make links of addresses in a text. A word joiner, which nobody sees, keeps them from it. */
const unlinked = (text: string): string => text.replaceAll(/[.:@](?=\S)/g, '$&\u2060')

const MAX_TITLE = 100

/** A name or title for a sentence of the service, on one line: only the marked message of the sender may have lines of its own. */
function titled(text: string): string {
  const line = text.replaceAll(/[\s\p{Cc}\p{Bidi_Control}]+/gu, ' ').trim()
  const signs = Array.from(line.slice(0, 2 * MAX_TITLE + 2))
  return unlinked(signs.length <= MAX_TITLE ? line : `${signs.slice(0, MAX_TITLE).join('')}…`)
}

const wrong = (detail: string): InvalidInput => new InvalidInput('invalid-value', detail)
