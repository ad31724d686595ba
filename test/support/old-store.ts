import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { temporaryFolder } from './temporary-folder.ts'

export const ES = 'http://entrystore.org/terms/'
export const DCT = 'http://purl.org/dc/terms/'
export const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'
const XSD = 'http://www.w3.org/2001/XMLSchema#'

export const text = (value: string): string => JSON.stringify(value).replaceAll(/\\u([0-9a-f]{4})/g, '\\u$1')
export const typed = (value: string, type: string): string => `${text(value)}^^<${XSD}${type}>`

interface Entry {
  readonly entryType?: 'Link' | 'Reference' | 'LinkReference'
  readonly graphType?: string
  /** Of an entry that is not Local; absolute, or relative to the base address. */
  readonly resource?: string
  readonly created?: string
  /** Left out of the index of its context. */
  readonly isHidden?: boolean
}

/** Writes the quads of an EntryStore, statement by statement, as N-Quads. Names without a scheme are below the base address. */
export class OldStore {
  readonly base: string
  #lines: string[] = []
  readonly #files = new Map<string, string | Uint8Array>()

  constructor(base = 'https://old.example.org/store/') {
    this.base = base
    this.say('_contexts/resource/_contexts', '_contexts/resource/_contexts', `${ES}counter`, typed('50', 'long'))
    for (const id of ['_contexts', '_principals']) this.context(id, id, 'SystemContext')
    for (const [id, name] of [
      ['_guest', 'guest'],
      ['_admin', 'admin'],
    ] as const)
      this.user(id, name)
    for (const [id, name] of [
      ['_admins', 'admins'],
      ['_users', 'users'],
    ] as const)
      this.group(id, name, [])
  }

  /** @param object an IRI, or a literal in quotation marks */
  say(graph: string, subject: string, predicate: string, object: string): this {
    const term = object.startsWith('"') ? object : this.#resource(object)
    this.#lines.push(`${this.#resource(subject)} <${predicate}> ${term} ${this.#resource(graph)} .`)
    return this
  }

  /** A line to the letter. */
  line(text: string): this {
    this.#lines.push(text)
    return this
  }

  entry(context: string, id: string, { entryType, graphType, resource, created, isHidden = false }: Entry = {}): this {
    const own = context === '_contexts' ? id : `${context}/resource/${id}`
    const e = `${context}/entry/${id}`
    const r = resource ?? own
    this.say(e, e, `${ES}resource`, r).say(e, e, `${ES}relation`, `${context}/relations/${id}`)
    if (entryType !== 'Reference') this.say(e, e, `${ES}metadata`, `${context}/metadata/${id}`)
    if (entryType) this.say(e, e, `${RDF}type`, ES + entryType)
    if (entryType === 'Reference' || entryType === 'LinkReference')
      this.say(e, e, `${ES}externalMetadata`, 'http://example.org/m.rdf')
    if (graphType !== undefined) this.say(e, r, `${RDF}type`, ES + graphType)
    this.say(e, e, `${DCT}created`, typed(created ?? '2020-01-02T03:04:05.678Z', 'dateTime'))
    this.say(e, e, `${DCT}modified`, typed('2021-01-02T03:04:05.678Z', 'dateTime'))
    const index = context === '_contexts' ? '_contexts/resource/_contexts' : context
    if (!isHidden) this.say(index, r, `${ES}resHasMMd`, e)
    return this
  }

  context(id: string, name: string | undefined, graphType = 'Context'): this {
    this.entry('_contexts', id, { graphType })
    if (name !== undefined) this.say('_contexts/resource/_contexts', `_contexts/entry/${id}`, `${ES}alias`, text(name))
    return this
  }

  user(id: string, name: string | undefined, hash?: string): this {
    this.entry('_principals', id, { graphType: 'User' })
    if (name !== undefined) this.say('_principals', `_principals/entry/${id}`, `${ES}alias`, text(name))
    if (hash !== undefined) this.ofUser(id, 'saltedHashedSecret', text(hash))
    return this
  }

  /** A statement of the resource graph of a user. */
  ofUser(id: string, property: string, object: string): this {
    return this.say(`_principals/resource/${id}`, `_principals/resource/${id}`, ES + property, object)
  }

  group(id: string, name: string | undefined, members: readonly string[]): this {
    this.entry('_principals', id, { graphType: 'Group' })
    if (name !== undefined) this.say('_principals', `_principals/entry/${id}`, `${ES}alias`, text(name))
    return this.members('_principals', id, members)
  }

  /** @param members ids of the same context, or paths */
  members(context: string, id: string, members: readonly string[]): this {
    const r = `${context}/resource/${id}`
    this.say(r, r, `${RDF}type`, `${RDF}Seq`)
    for (const [index, member] of members.entries()) {
      this.say(r, r, `${RDF}_${index + 1}`, member.includes('/') ? member : `${context}/entry/${member}`)
    }
    return this
  }

  title(context: string, id: string, title: string): this {
    return this.say(`${context}/metadata/${id}`, `${context}/resource/${id}`, `${DCT}title`, text(title))
  }

  file(path: string, content: string | Uint8Array): this {
    this.#files.set(path, content)
    return this
  }

  /** Leaves out the lines that hold this text. */
  without(part: string): this {
    this.#lines = this.#lines.filter(line => !line.includes(part))
    return this
  }

  get nquads(): string {
    return this.#lines.map(line => `${line}\n`).join('')
  }

  /** A backup folder with these quads and files. @param quads instead of the quads that were said */
  async write(quads: string | Uint8Array = this.nquads, name = 'repository.nq'): Promise<string> {
    const folder = await temporaryFolder()
    const files = new Map<string, string | Uint8Array>([
      [name, quads],
      ['BACKUP_DATE', '20240506070809'],
      ...this.#files,
    ])
    for (const [path, content] of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), content)
    }
    return folder
  }

  #resource(name: string): string {
    if (name.startsWith('_:')) return name
    return /^[a-z][a-z0-9+.-]*:/.test(name) ? `<${name}>` : `<${this.base}${name}>`
  }
}
