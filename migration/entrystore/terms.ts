import { isAbsoluteIri, type Statement, type Term } from '../../src/graph/graph.ts'
import { BlankLabels } from '../../src/graph/text.ts'
import type { ObjectTerm } from './formats/quads.ts'
import type { RawStatement } from './quad-table.ts'
import type { Report } from './report.ts'

interface TermOptions {
  /** The base address of the old store, ending in a slash. */
  readonly base: string
  /** Another address of it, whose IRIs are treated like its own. */
  readonly alsoBase?: string | undefined
}

const RELATIVE = './'

/**
 * Converts statements of the old store into those of a graph of this service. IRIs below its base address
 * become relative, and blank nodes get labels of the graph. Anything that cannot be kept unchanged is
 * repaired or dropped, and reported.
 */
export class Terms {
  readonly base: string
  readonly #alsoBase: string | undefined
  readonly #report: Report

  constructor({ base, alsoBase }: TermOptions, report: Report) {
    this.base = base
    this.#alsoBase = alsoBase
    this.#report = report
  }

  /** The relative form of the IRI; `undefined` when the text is not an IRI. */
  iri(raw: string, place: string): string | undefined {
    const iri = isAbsoluteIri(raw) ? raw : this.#repaired(raw, place)
    if (iri === undefined) return undefined
    if (iri.startsWith(this.base)) return RELATIVE + iri.slice(this.base.length)
    if (this.#alsoBase === undefined || !iri.startsWith(this.#alsoBase)) return iri
    this.#report.count('IRIs of the other base address')
    return RELATIVE + iri.slice(this.#alsoBase.length)
  }

  text(raw: string, place: string): string {
    if (raw.isWellFormed() && !raw.includes('\0')) return raw
    this.#report.note('illegal-character', place)
    return raw.toWellFormed().replaceAll('\0', '\ufffd')
  }

  /**
   * The statements of one graph without duplicates. Dropped statements and duplicates are accounted for here,
   * all others by the caller.
   */
  graph(statements: Iterable<RawStatement>, place: string): Statement[] {
    const labels = new BlankLabels()
    const resource = (raw: string): string | undefined =>
      raw.startsWith('_:') ? `_:${labels.of(raw)}` : this.iri(raw, place)
    const known = new Set<string>()
    const kept: Statement[] = []
    for (const [s, p, o] of statements) {
      const [subject, predicate] = [resource(s), this.iri(p, place)]
      const object = typeof o === 'string' ? objectOf(resource(o)) : this.#literal(o, place)
      if (subject === undefined || predicate === undefined || object === undefined) {
        this.#report.drop('bad-iri', `${place}: a relative IRI`)
        continue
      }
      const key = JSON.stringify([subject, predicate, object.type, object.value, object.lang, object.datatype])
      if (known.has(key)) {
        this.#report.add('duplicate')
        continue
      }
      known.add(key)
      kept.push({ subject, predicate, object })
    }
    return kept
  }

  #literal([raw, lang, datatype]: Exclude<ObjectTerm, string>, place: string): Term {
    const value = this.text(raw, place)
    if (lang !== undefined && lang !== null) {
      const tag = this.#languageTag(lang, place)
      return tag === undefined ? { type: 'literal', value } : { type: 'literal', value, lang: tag }
    }
    const type =
      datatype === undefined ? undefined : isAbsoluteIri(datatype) ? datatype : this.#repaired(datatype, place)
    if (datatype !== undefined && type === undefined) this.#report.note('bad-iri', `${place}: a datatype`)
    return type === undefined ? { type: 'literal', value } : { type: 'literal', value, datatype: type }
  }

  #languageTag(lang: string, place: string): string | undefined {
    if (isLanguageTag(lang)) return lang
    this.#report.note('bad-language-tag', `${place}: ${lang}`)
    const hyphened = lang.trim().replaceAll(/[\s_]+/g, '-')
    return isLanguageTag(hyphened) ? hyphened : undefined
  }

  #repaired(raw: string, place: string): string | undefined {
    // oxlint-disable-next-line no-control-regex -- encoding control characters is the purpose
    const iri = raw.toWellFormed().replaceAll(/[\u0000-\u0020<>"{}|\\^`]/g, found => encodeURIComponent(found))
    if (!isAbsoluteIri(iri)) return undefined
    this.#report.note('bad-iri', `${place}: ${raw}`)
    return iri
  }
}

const objectOf = (resource: string | undefined): Term | undefined =>
  resource === undefined ? undefined : { type: resource.startsWith('_:') ? 'bnode' : 'uri', value: resource }

const isLanguageTag = (text: string): boolean => /^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$/.test(text)
