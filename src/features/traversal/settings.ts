import { choice, integer } from '../../config/kinds.ts'
import { settingsOf, trimmed } from '../../config/setting.ts'
import { MAX_DEPTH, MAX_ENTRIES } from './limits.ts'
import { expand, type Link, readLink } from './links.ts'

/** A value, with the text that it was read from. */
interface Written {
  readonly text: string
}
interface Links extends Written {
  readonly links: readonly Link[]
}
interface Stop extends Written {
  readonly predicate: string
  /** An IRI, or the text of a literal. */
  readonly object: string
}

const links = settingsOf(
  trimmed<Links>(
    'predicates as IRIs or short forms such as dcterms:relation, with commas between them, ^ before those followed backwards',
    text => {
      const read = text.split(',').map(one => readLink(one.trim()))
      const known = read.filter(link => link !== undefined)
      return known.length === read.length ? { text, links: known } : undefined
    },
    ({ text }) => text,
  ),
)

const stop = settingsOf(
  trimmed<Stop>(
    'a predicate, a comma, and an IRI, a short form or a text',
    text => {
      const [name = '', ...rest] = text.split(',')
      const [predicate, object] = [expand(name.trim()), rest.join(',').trim()]
      return predicate === undefined || object === ''
        ? undefined
        : { text, predicate, object: expand(object) ?? object }
    },
    ({ text }) => text,
  ),
)

export const traversalSettings = {
  title: 'Traversal profiles',
  rows: {
    'service.traversal.predicates.<profile>': links({
      live: true,
      help: 'The links that `recursive=<profile>` follows. Several keys of one profile have numbers: `….<profile>.1`. `dcat`, for catalogs, is built in; a profile of this name replaces it.',
    }),
    'service.traversal.max-depth.<profile>': integer({
      live: true,
      min: 0,
      max: MAX_DEPTH,
      help: `How many links the profile follows one after the other, also if the request asks for more. Without it ${MAX_DEPTH}.`,
    }),
    'service.traversal.limit.<profile>': integer({
      live: true,
      min: 1,
      max: MAX_ENTRIES,
      help: `How many entries the profile gathers, the first one included. Without it ${MAX_ENTRIES}.`,
    }),
    'service.traversal.scope.<profile>': choice(['all', 'context'], {
      live: true,
      help: '`context`: the profile gathers only entries of the same context.',
    }),
    'service.traversal.stop.<profile>': stop({
      live: true,
      help: 'Entries with this statement in their metadata are left out, and also entries to which only they lead. Several have numbers: `….<profile>.1`.',
    }),
  },
} as const
