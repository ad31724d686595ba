/** How a field is matched (W3.10.4). */
export type FieldKind = 'string' | 'uri' | 'ngram' | 'text' | 'date' | 'integer' | 'boolean'

const kinds: Readonly<Record<string, FieldKind>> = {
  uri: 'uri',
  resource: 'uri',
  context: 'uri',
  graphType: 'string',
  entryType: 'string',
  resourceType: 'string',
  rdfType: 'uri',
  created: 'date',
  modified: 'date',
  creator: 'uri',
  contributors: 'uri',
  lists: 'uri',
  'acl.admin': 'uri',
  'acl.metadata.r': 'uri',
  'acl.metadata.rw': 'uri',
  'acl.resource.r': 'uri',
  'acl.resource.rw': 'uri',
  public: 'boolean',
  username: 'string',
  contextname: 'string',
  title: 'ngram',
  description: 'ngram',
  'tag.literal': 'ngram',
  'tag.uri': 'uri',
  lang: 'string',
  email: 'string',
  status: 'uri',
  profile: 'uri',
  projectType: 'uri',
  all: 'text',
  name: 'ngram',
  size: 'integer',
  format: 'string',
  'metadata.object.literal': 'text',
  'metadata.object.uri': 'uri',
}

const predicateKinds: Readonly<Record<string, FieldKind>> = {
  literal: 'ngram',
  literal_t: 'text',
  literal_s: 'string',
  uri: 'uri',
  integer: 'integer',
  date: 'date',
}

const predicateField = /^(?:metadata\.predicate)\.([a-z_]+)\.([0-9a-f]{8}|\.\/.*)$/s

/** `undefined` for an unknown field, in which nothing is found. */
export function kindOfField(name: string): FieldKind | undefined {
  if (Object.hasOwn(kinds, name)) return kinds[name]
  const [, kind = ''] = predicateField.exec(name) ?? []
  if (Object.hasOwn(predicateKinds, kind)) return predicateKinds[kind]
  const [, text] = /^(title|description)\.[a-z0-9-]{1,64}$/.exec(name) ?? []
  return text === 'title' ? 'ngram' : text === 'description' ? 'text' : undefined
}

/** Language tags are compared without regard to case. */
export const fieldName = (written: string): string =>
  /^(title|description)\./.test(written) ? written.toLowerCase() : written
