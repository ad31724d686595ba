const STORE = 'http://entrystore.org/terms/'
const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'
const DC = 'http://purl.org/dc/elements/1.1/'
const PROV = 'http://www.w3.org/ns/prov#'
const FOAF = 'http://xmlns.com/foaf/0.1/'
const OWL = 'http://www.w3.org/2002/07/owl#'
const DCT = 'http://purl.org/dc/terms/'
const DCAT = 'http://www.w3.org/ns/dcat#'

/** Terms of the store's own vocabulary; existing clients have them built in, to the letter. */
export const store = {
  resource: `${STORE}resource`,
  metadata: `${STORE}metadata`,
  relation: `${STORE}relation`,
  externalMetadata: `${STORE}externalMetadata`,
  cachedExternalMetadata: `${STORE}cachedExternalMetadata`,
  cached: `${STORE}cached`,
  read: `${STORE}read`,
  write: `${STORE}write`,
  homeContext: `${STORE}homeContext`,
  hasListMember: `${STORE}hasListMember`,
  hasGroupMember: `${STORE}hasGroupMember`,
  originallyCreatedIn: `${STORE}originallyCreatedIn`,
  Link: `${STORE}Link`,
  LinkReference: `${STORE}LinkReference`,
  Reference: `${STORE}Reference`,
  term: (name: string): string => STORE + name,
} as const

export const rdf = {
  type: `${RDF}type`,
  Seq: `${RDF}Seq`,
  value: `${RDF}value`,
  /** The n-th member of a container, from 1. */
  member: (n: number): string => `${RDF}_${n}`,
} as const

export const rdfs = { label: 'http://www.w3.org/2000/01/rdf-schema#label' } as const

export const dct = {
  created: `${DCT}created`,
  modified: `${DCT}modified`,
  creator: `${DCT}creator`,
  contributor: `${DCT}contributor`,
  format: `${DCT}format`,
  extent: `${DCT}extent`,
  title: `${DCT}title`,
  description: `${DCT}description`,
  subject: `${DCT}subject`,
} as const

/** The older terms, which many graphs still use. */
export const dc = {
  title: `${DC}title`,
  description: `${DC}description`,
} as const

export const xsd = {
  string: 'http://www.w3.org/2001/XMLSchema#string',
  dateTime: 'http://www.w3.org/2001/XMLSchema#dateTime',
  long: 'http://www.w3.org/2001/XMLSchema#long',
  double: 'http://www.w3.org/2001/XMLSchema#double',
  float: 'http://www.w3.org/2001/XMLSchema#float',
  decimal: 'http://www.w3.org/2001/XMLSchema#decimal',
  langString: `${RDF}langString`,
} as const

export const prov = {
  generatedAtTime: `${PROV}generatedAtTime`,
  wasAttributedTo: `${PROV}wasAttributedTo`,
  wasRevisionOf: `${PROV}wasRevisionOf`,
} as const

export const foaf = { name: `${FOAF}name`, mbox: `${FOAF}mbox` } as const

export const dcat = { keyword: `${DCAT}keyword` } as const

export const owl = { sameAs: `${OWL}sameAs` } as const

/** Prefixes in the graphs that we write, where they are used. No namespace here begins another. */
export const prefixes: Readonly<Record<string, string>> = {
  rdf: RDF,
  rdfs: 'http://www.w3.org/2000/01/rdf-schema#',
  xsd: 'http://www.w3.org/2001/XMLSchema#',
  dcterms: DCT,
  dc: 'http://purl.org/dc/elements/1.1/',
  foaf: FOAF,
  skos: 'http://www.w3.org/2004/02/skos/core#',
  owl: OWL,
  prov: PROV,
  dcat: DCAT,
  vcard: 'http://www.w3.org/2006/vcard/ns#',
  adms: 'http://www.w3.org/ns/adms#',
  schema: 'http://schema.org/',
  spdx: 'http://spdx.org/rdf/terms#',
  odrl: 'http://www.w3.org/ns/odrl/2/',
  locn: 'http://www.w3.org/ns/locn#',
  org: 'http://www.w3.org/ns/org#',
  es: STORE,
}
