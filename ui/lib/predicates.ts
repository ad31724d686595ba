import type { MessageKey } from '../messages/en.ts'
import { DESCRIPTION, TAG } from './details.ts'
import { LABEL, TITLE } from './files.ts'
import { t } from './language.ts'

const DCT = 'http://purl.org/dc/terms/'
const FOAF = 'http://xmlns.com/foaf/0.1/'

/** Predicates that have a word on the pages. */
const words: Readonly<Record<string, MessageKey>> = {
  [TITLE]: 'title',
  [LABEL]: 'fileName',
  [DESCRIPTION]: 'description',
  [TAG]: 'tags',
  [`${DCT}creator`]: 'metadataCreator',
  [`${DCT}publisher`]: 'metadataPublisher',
  [`${DCT}issued`]: 'metadataIssued',
  [`${DCT}language`]: 'language',
  [`${DCT}license`]: 'metadataLicense',
  [`${DCT}rights`]: 'metadataRights',
  [`${DCT}source`]: 'metadataSource',
  [`${DCT}identifier`]: 'metadataIdentifier',
  [`${DCT}spatial`]: 'metadataPlace',
  [`${FOAF}name`]: 'fullName',
  [`${FOAF}mbox`]: 'email',
}

/** What people call a predicate, or the last part of its IRI. */
export function tellPredicate(iri: string): string {
  const word = words[iri]
  return word ? t(word) : (/[^/#]+$/.exec(iri)?.[0] ?? iri)
}

/** What people call the predicates of an event, or the last part of their IRIs. @param list separated by commas */
export const tellPredicates = (list: string): string => list.split(', ').map(tellPredicate).join(', ')
