import { createHash, type Hash, type KeyObject } from 'node:crypto'
import { SaxesParser } from 'saxes'
import type { Bytes, Milliseconds } from '../../base/units.ts'
import { SsoRefused } from '../sso/refusal.ts'
import { messageLimits, parseXml } from '../sso/xml.ts'
import { attributeOf, type OpenedTag } from '../sso/xml-element.ts'
import { CanonicalWriter, isDeclaration, type Resolve } from './canonical.ts'
import { type FederationEntity, readEntity } from './federation-entity.ts'
import { MetadataRefused } from './metadata.ts'
import { DS, MD, MDUI } from './names.ts'
import { signatureOf, verifiedReference, type VerifiedReference } from './signature.ts'

interface SignedMetadataOptions {
  /** Keys of the federation, or of the publisher of a single provider; one of them must have signed the document. */
  readonly keys: readonly KeyObject[]
  readonly now: Milliseconds
  /** False accepts a document without `validUntil`: most providers sign their own metadata without one. */
  readonly requiresEnd: boolean
}

/** What the document states as a whole. It is valid only after {@link SignedMetadataReader.end} has returned. */
export interface SignedMetadataSummary {
  readonly bytes: Bytes
  /** Wall clock; infinite for a document without it. Else an old copy with a provider that has been removed could be accepted for ever. */
  readonly validUntil: Milliseconds
  readonly cacheDuration: Milliseconds | undefined
  /** Providers that cannot be used, with the reasons of the first few. */
  readonly unusable: number
  readonly reasons: readonly string[]
}

/** No part of an honest document is larger: a name, an attribute, a text. */
const MAX_PART_CHARACTERS = 1_048_576
const MAX_DEPTH = 40
const MAX_ATTRIBUTES = 100
const MAX_ENTITIES = 100_000
const MAX_SIGNATURE_PARTS = 10_000
const MAX_REASONS = 10
const HASHED_AT_ONCE = 65_536

/** Parts of an EntityDescriptor that nothing here uses; logos are often the largest. */
const leftOut: ReadonlySet<string> = new Set([
  `${MD} AttributeAuthorityDescriptor`,
  `${MD} ContactPerson`,
  `${MD} SPSSODescriptor`,
  `${MDUI} Description`,
  `${MDUI} Logo`,
])

/** An EntityDescriptor that is being read. */
interface OpenEntity {
  readonly depth: number
  readonly parts: string[]
  readonly writer: CanonicalWriter
  readonly until: Milliseconds
  characters: number
  isProvider: boolean
  /** Depth of the element that is left out. */
  skipped: number | undefined
}

/**
 * Reads signed metadata of any size as a stream: an aggregate of a federation, or a single EntityDescriptor of a metadata query service.
 * One parser feeds both the digest and the entities, so that only data that the signature covers are read. Therefore the signature must be
 * the first element in the root and refer to the root. Comments reach neither the digest nor the entities, because canonical XML leaves
 * them out. DOCTYPE, CDATA and processing instructions are refused.
 */
export class SignedMetadataReader {
  readonly #options: SignedMetadataOptions
  readonly #parser = new SaxesParser({ xmlns: true, position: false })
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })
  readonly #onEntity: (entity: FederationEntity) => void
  #bytes: Bytes = 0
  /** Characters since the parser completed a part. */
  #pending = 0
  #depth = 0
  #root: OpenedTag | undefined
  /** Text in the root before its signature. */
  #before = ''
  /** Characters of text before the end of the signature. */
  #early = 0
  #signature: { readonly parts: string[]; readonly writer: CanonicalWriter } | undefined
  #reference: VerifiedReference | undefined
  #hash: Hash | undefined
  #hashed: string[] = []
  #hashedCharacters = 0
  #writer: CanonicalWriter | undefined
  #entity: OpenEntity | undefined
  /** The end of validity of each open EntitiesDescriptor, limited by the elements around it. */
  readonly #until: Milliseconds[] = []
  #entities = 0
  #unusable = 0
  readonly #reasons: string[] = []
  #validUntil: Milliseconds | undefined
  #cacheDuration: Milliseconds | undefined

  /** @param onEntity called with each provider before the digest has been compared: keep them until `end` has returned */
  constructor(options: SignedMetadataOptions, onEntity: (entity: FederationEntity) => void) {
    this.#options = options
    this.#onEntity = onEntity
    const parser = this.#parser
    parser.on('xmldecl', ({ version, encoding }) => {
      if (version !== '1.0') throw refused(`XML ${version ?? ''} is not accepted`)
      if (encoding !== undefined && encoding.toLowerCase() !== 'utf-8') throw refused(`it is in ${encoding}, not UTF-8`)
    })
    parser.on('doctype', () => never('a DOCTYPE'))
    parser.on('cdata', () => never('a CDATA section'))
    parser.on('processinginstruction', () => never('a processing instruction'))
    parser.on('comment', () => (this.#pending = 0))
    parser.on('text', text => this.#text(text))
    parser.on('opentag', tag => this.#open(tag as OpenedTag))
    parser.on('closetag', tag => this.#close(tag as OpenedTag))
  }

  /** @throws {MetadataRefused} */
  write(chunk: Uint8Array): void {
    this.#bytes += chunk.length
    this.#feed(() => this.#decoder.decode(chunk, { stream: true }))
  }

  /** @throws {MetadataRefused} when the document is incomplete, or is not what a key of the federation has signed */
  end(): SignedMetadataSummary {
    this.#feed(() => this.#decoder.decode())
    this.#guard(() => this.#parser.close())
    const [reference, hash] = [this.#reference, this.#hash]
    if (!reference || !hash || this.#validUntil === undefined) throw unsigned()
    hash.update(this.#hashed.join(''))
    if (!hash.digest().equals(reference.digestValue)) {
      throw wronglySigned('it is not what was signed: its digest differs from the one in its signature')
    }
    return {
      bytes: this.#bytes,
      validUntil: this.#validUntil,
      cacheDuration: this.#cacheDuration,
      unusable: this.#unusable,
      reasons: this.#reasons,
    }
  }

  #feed(decode: () => string): void {
    const text = this.#guard(decode)
    this.#pending += text.length
    if (this.#pending > MAX_PART_CHARACTERS + text.length) throw refused('a part of it is too large')
    this.#guard(() => this.#parser.write(text))
  }

  /** Errors of the parser and of the decoder become refusals. */
  #guard<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      if (error instanceof MetadataRefused) throw error
      if (error instanceof SsoRefused) {
        const { check, expected = '', received = 'nothing' } = error.failed
        const reason = `its signature is refused (${check}): expected ${expected}, received ${received}`
        throw new MetadataRefused(reason, { cause: error, check: 'metadata-signature' })
      }
      throw new MetadataRefused(`it cannot be read: ${(error as Error).message}`, { cause: error })
    }
  }

  #open(tag: OpenedTag): void {
    this.#pending = 0
    this.#depth++
    if (this.#depth > MAX_DEPTH) throw refused(`it is nested more than ${MAX_DEPTH} deep`)
    this.#requireAttributes(tag)
    if (!this.#root) this.#openRoot(tag)
    else if (!this.#hash) this.#openSignature(tag)
    else this.#openSigned(tag)
  }

  #openRoot(tag: OpenedTag): void {
    if (tag.uri !== MD || !['EntitiesDescriptor', 'EntityDescriptor'].includes(tag.local)) {
      throw refused(`it is no metadata of SAML 2.0: its element is ${tag.name}`)
    }
    this.#root = tag
    const { requiresEnd } = this.#options
    const validUntil = timeOf(tag, 'validUntil') ?? (requiresEnd ? undefined : Infinity)
    if (validUntil === undefined) throw refused('it has no validUntil, so an old copy could be used for ever')
    if (this.#options.now >= validUntil) throw refused(`it was valid until ${new Date(validUntil).toISOString()}`)
    this.#validUntil = validUntil
    this.#cacheDuration = durationOf(tag)
    this.#until.push(validUntil)
  }

  /** The signature is verified as soon as it has been read, because it names the digest for the elements that follow. */
  #openSignature(tag: OpenedTag): void {
    if (!this.#signature) {
      if (tag.uri !== DS || tag.local !== 'Signature') throw unsigned()
      const parts: string[] = []
      this.#signature = { parts, writer: new CanonicalWriter(text => parts.push(text)) }
    }
    if (this.#signature.parts.length > MAX_SIGNATURE_PARTS) throw refused('its signature is too large')
    this.#signature.writer.open(tag, this.#resolve)
  }

  #openSigned(tag: OpenedTag): void {
    if (tag.uri === DS && tag.local === 'Signature' && this.#depth === 2) throw refused('it has several signatures')
    if (tag.attributes['ID']?.value === this.#root?.attributes['ID']?.value) throw refused('an ID occurs twice in it')
    this.#writer?.open(tag, this.#resolve)
    const isEntity = tag.uri === MD && tag.local === 'EntityDescriptor'
    if (this.#entity) this.#openInside(this.#entity, tag)
    else if (isEntity) this.#openEntity(tag, this.#resolve)
    else if (tag.uri === MD && tag.local === 'EntitiesDescriptor') this.#until.push(this.#earliest(tag))
  }

  #openEntity(tag: OpenedTag, resolve: Resolve): void {
    this.#entities++
    if (this.#entities > MAX_ENTITIES) throw refused(`it has more than ${MAX_ENTITIES} entities`)
    const parts: string[] = []
    const entity: OpenEntity = {
      depth: this.#depth,
      parts,
      writer: new CanonicalWriter(text => {
        entity.characters += text.length
        // It is refused below; until then it takes no memory.
        if (entity.characters <= messageLimits.bytes) parts.push(text)
      }),
      until: this.#earliest(tag),
      characters: 0,
      isProvider: false,
      skipped: undefined,
    }
    this.#entity = entity
    entity.writer.open(tag, resolve)
  }

  #openInside(entity: OpenEntity, tag: OpenedTag): void {
    if (entity.skipped !== undefined) return
    if (leftOut.has(`${tag.uri} ${tag.local}`) || (tag.uri === DS && tag.local === 'Signature')) {
      entity.skipped = this.#depth
      return
    }
    if (tag.uri === MD && tag.local === 'IDPSSODescriptor') entity.isProvider = true
    entity.writer.open(tag, this.#resolve)
  }

  #text(text: string): void {
    this.#pending = 0
    if (this.#depth === 0) return
    if (!this.#hash) this.#textBefore(text)
    else {
      this.#writer?.text(text)
      if (this.#entity && this.#entity.skipped === undefined) this.#entity.writer.text(text)
    }
  }

  /** In the signature, or between the tag of the root and it. */
  #textBefore(text: string): void {
    this.#early += text.length
    if (this.#early > MAX_PART_CHARACTERS) throw refused('its signature is too large')
    if (this.#signature) this.#signature.writer.text(text)
    else this.#before += text
  }

  #close(tag: OpenedTag): void {
    this.#pending = 0
    if (!this.#root || (!this.#hash && !this.#signature)) throw unsigned()
    if (!this.#hash && this.#signature) {
      this.#signature.writer.close(tag.name)
      if (this.#depth === 2) this.#verifySignature(this.#root, this.#signature.parts.join(''))
    } else {
      this.#writer?.close(tag.name)
      if (this.#entity) this.#closeInside(this.#entity, tag)
      else if (tag.uri === MD && tag.local === 'EntitiesDescriptor') this.#until.pop()
    }
    this.#depth--
  }

  #closeInside(entity: OpenEntity, tag: OpenedTag): void {
    if (entity.skipped === undefined) entity.writer.close(tag.name)
    else if (entity.skipped === this.#depth) entity.skipped = undefined
    if (entity.depth !== this.#depth) return
    this.#entity = undefined
    if (entity.isProvider) this.#take(entity)
  }

  #take({ parts, characters, until }: OpenEntity): void {
    try {
      if (characters > messageLimits.bytes) throw new MetadataRefused('it is too large')
      const read = readEntity(parts.join(''), this.#options.now)
      if (this.#options.now >= until) throw new MetadataRefused(`it was valid until ${new Date(until).toISOString()}`)
      const end = Math.min(until, read.idp.validUntil ?? until)
      // The end of an aggregate is kept once, for all.
      const isCommon = end === this.#validUntil && this.#root?.local === 'EntitiesDescriptor'
      const validUntil = isCommon || end === Infinity ? undefined : end
      this.#onEntity({ ...read, idp: { ...read.idp, validUntil } })
    } catch (error) {
      // An error in one of thousands of entities does not make the others unusable.
      this.#unusable++
      const entityId = /^[^>]*? entityID="([^"]*)"/.exec(parts[0] ?? '')?.[1]
      if (this.#reasons.length < MAX_REASONS)
        this.#reasons.push(`${entityId ?? 'without entityID'}: ${(error as Error).message}`)
    }
  }

  /** The root with nothing but the signature in it is a document small enough for the code that verifies messages. */
  #verifySignature(root: OpenedTag, signature: string): void {
    const declarations = Object.values(root.attributes).filter(isDeclaration)
    const id = root.attributes['ID']
    const shown = [...declarations, ...(id ? [id] : [])].map(({ name, value }) => ` ${name}="${escapeValue(value)}"`)
    const text = `<${root.name}${shown.join('')}>${signature}</${root.name}>`
    const message = this.#guard(() => parseXml(text, messageLimits))
    const element = signatureOf(message)
    if (!element || attributeOf(message, 'ID') === undefined) throw unsigned()
    this.#reference = this.#guard(() => verifiedReference(message, element, this.#options.keys))
    this.#hash = createHash(this.#reference.digest)
    this.#writer = new CanonicalWriter(text => this.#digest(text), this.#reference.prefixes)
    this.#writer.open(root, prefix => resolveIn(root, prefix))
    this.#writer.text(this.#before)
    if (root.local === 'EntityDescriptor') {
      this.#depth--
      this.#openEntity(root, prefix => resolveIn(root, prefix))
      this.#depth++
    }
  }

  #digest(text: string): void {
    this.#hashed.push(text)
    this.#hashedCharacters += text.length
    if (this.#hashedCharacters < HASHED_AT_ONCE) return
    this.#hash?.update(this.#hashed.join(''))
    this.#hashed = []
    this.#hashedCharacters = 0
  }

  #requireAttributes({ attributes }: OpenedTag): void {
    const all = Object.values(attributes)
    if (all.length > MAX_ATTRIBUTES) throw refused('an element in it has too many attributes')
    for (const attribute of all) {
      const { prefix, value } = attribute
      // The parser trims the address of a namespace, but canonical XML contains it untrimmed.
      const isStrange = isDeclaration(attribute) && (value.trim() !== value || (value === '' && prefix !== ''))
      if (isStrange) throw refused('a declaration of a namespace in it is malformed')
    }
  }

  #earliest(tag: OpenedTag): Milliseconds {
    return Math.min(timeOf(tag, 'validUntil') ?? Infinity, this.#until.at(-1) ?? Infinity)
  }

  readonly #resolve: Resolve = prefix => this.#parser.resolve(prefix)
}

function resolveIn({ attributes }: OpenedTag, prefix: string): string | undefined {
  return attributes[prefix === '' ? 'xmlns' : `xmlns:${prefix}`]?.value
}

function timeOf({ attributes }: OpenedTag, name: string): Milliseconds | undefined {
  const text = attributes[name]?.value
  if (text === undefined) return undefined
  const time = Date.parse(text)
  if (Number.isNaN(time)) throw refused(`a ${name} in it is no date`)
  return time
}

/** A duration of XML Schema without years and months, which have no fixed length. */
const DURATION = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.\d+)?S)?)?$/

function durationOf({ attributes }: OpenedTag): Milliseconds | undefined {
  const text = attributes['cacheDuration']?.value
  const found = text === undefined ? null : DURATION.exec(text.trim())
  if (!found) return undefined
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = found.slice(1).map(part => Number(part ?? 0))
  return ((days * 24 + hours) * 60 + minutes) * 60_000 + seconds * 1000
}

const escapeValue = (value: string): string =>
  value.replaceAll(/[&<"\t\n\r]/g, character => `&#${character.codePointAt(0)};`)

const refused = (reason: string): MetadataRefused => new MetadataRefused(reason)
const never = (what: string): never => {
  throw refused(`it holds ${what}`)
}
const wronglySigned = (reason: string): MetadataRefused => new MetadataRefused(reason, { check: 'metadata-signature' })
const unsigned = (): MetadataRefused =>
  wronglySigned(
    'it is not signed: the first element in its root must be a ds:Signature that refers to the root by its ID',
  )
