import type { Client } from '../../accounts/sessions.ts'
import { BaseAddress } from '../../http/base-address.ts'
import type { ContentOrigin, FileOnContentOrigin } from '../../http/content-origin.ts'
import type { Entry } from '../../model/entry.ts'
import type { ContentTickets } from './tickets.ts'

/** Where the content origin answers tickets, relative to its base address. */
export const TICKET_PATH = 'files/'

/** Files that people without an account read, because a user has shared them. */
export interface Shares {
  /** The entry with this id behind a share that the visitor has entered before. @throws {NotFound} when it does not lead there any more */
  reopen(share: string, id: string, client: Client): Promise<Entry>
  /**
   * The same check while the file is being sent. Resolves to the names in the change log on which the result depends. @throws {NotFound}
   */
  recheck(share: string, id: string, client: Client): Promise<readonly string[]>
  /** Where visitors read the file, relative to the base address. */
  pathOf(share: string, id: string): string
}

/**
 * A second origin of this service, for files that a browser would run or render with active content (D18.15). It serves requests with a
 * ticket only, and uses no cookies, so such a file can reach neither the session nor the pages of the user.
 */
export class TicketOrigin implements ContentOrigin {
  readonly base: BaseAddress
  readonly tickets: ContentTickets
  /** Set by the feature that shares files; absent: there are no shares. */
  shares: Shares | undefined
  readonly #hosts: ReadonlySet<string>

  /** @param href absolute, with another host than the base address */
  constructor(href: string, tickets: ContentTickets) {
    const { protocol, host, port } = new URL(href)
    this.base = new BaseAddress(href)
    this.tickets = tickets
    // Some clients and proxies write the default port.
    const defaultPort = protocol === 'https:' ? 443 : 80
    this.#hosts = new Set(port === '' ? [host, `${host}:${defaultPort}`] : [host])
  }

  addressOf(file: FileOnContentOrigin): string {
    return this.base.at(TICKET_PATH + this.tickets.issue(file))
  }

  isAt(host: string | undefined): boolean {
    return host !== undefined && (this.#hosts.has(host) || this.#hosts.has(host.toLowerCase()))
  }
}
