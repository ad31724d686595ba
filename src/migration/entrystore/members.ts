import type { Statement } from '../../graph/graph.ts'
import { rdf } from '../../graph/vocabulary.ts'
import { addressIn, type EntryAddress } from '../../model/addresses.ts'
import type { Report } from './report.ts'

const MEMBER = rdf.member(1).slice(0, -1)

/**
 * The members of a list or group in their order, without gaps and duplicates. Members are entries; a group
 * may also refer to users by their resource. @param resource the resource that the graph describes
 */
export function readMembers(
  resource: string,
  statements: readonly Statement[],
  place: string,
  report: Report,
): EntryAddress[] {
  const numbered: Array<readonly [number: number, member: EntryAddress]> = []
  for (const { subject, predicate, object } of statements) {
    if (subject === resource && predicate === rdf.type && object.value === rdf.Seq) {
      report.derived(1)
      continue
    }
    const number =
      subject === resource && predicate.startsWith(MEMBER) ? Number(predicate.slice(MEMBER.length)) : Number.NaN
    if (!Number.isSafeInteger(number)) {
      report.drop('unknown-statement', `${place}: ${predicate}`)
      continue
    }
    const member = object.type === 'uri' ? addressIn(object.value) : undefined
    if (member) numbered.push([number, member])
    else report.drop('missing-member', `${place}: ${object.type === 'uri' ? object.value : 'a member that is no IRI'}`)
  }
  numbered.sort(([a], [b]) => a - b)
  const known = new Set<string>()
  return numbered.flatMap(([, member]) => {
    const key = `${member.context}/${member.id}`
    if (known.has(key)) {
      report.drop('duplicate-member', `${place}: ${key}`)
      return []
    }
    known.add(key)
    return [member]
  })
}
