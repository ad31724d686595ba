import {
  type GraphLimits,
  graphOf,
  type GraphText,
  graphText,
  literal,
  parseGraph,
  requireGraphSize,
  statementsOf,
} from '../../graph/graph.ts'
import { dcat } from '../../graph/vocabulary.ts'
import { type Entry, resourceOf } from '../../model/entry.ts'
import type { Tags } from './operation.ts'

/** The metadata of an entry with further tags, and without others, in whatever language these are. @throws {TooLarge} `graph-too-large` */
export function taggedMetadata(entry: Entry, { add, remove }: Tags, limits: GraphLimits): GraphText {
  const about = resourceOf(entry)
  const isTag = (subject: string, predicate: string): boolean => subject === about && predicate === dcat.keyword
  const statements = [...statementsOf(parseGraph(entry.metadata))]
  const present = statements
    .filter(({ subject, predicate }) => isTag(subject, predicate))
    .map(({ object }) => object.value)
  const kept = statements.filter(
    ({ subject, predicate, object }) => !isTag(subject, predicate) || !remove.includes(object.value),
  )
  const added = [...new Set(add)].filter(tag => !present.includes(tag) && !remove.includes(tag))
  const tagged = graphOf([
    ...kept,
    ...added.map(tag => ({ subject: about, predicate: dcat.keyword, object: literal(tag) })),
  ])
  return graphText(added.length === 0 ? tagged : requireGraphSize(tagged, limits))
}
