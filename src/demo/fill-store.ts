import { landscape } from './picture.ts'
import { type DemoFile, Visitor } from './visitor.ts'

export const DEMO_PASSWORD = 'harbour-Demo-2026'

/** Users of the demonstration, each with what they can do there. All have `DEMO_PASSWORD`. */
export const demoUsers = [
  { name: 'anna', fullName: 'Anna Andersson', role: 'owns “Survey of the harbour” and shares a file with Carla' },
  { name: 'bo', fullName: 'Bo Berg', role: 'may write there as a member of the group “Editors”' },
  { name: 'carla', fullName: 'Carla Castro', role: 'finds that file in “Shared with me”' },
] as const

const DCAT = 'http://www.w3.org/ns/dcat#'
const DCTERMS = 'http://purl.org/dc/terms/'
const FOAF = 'http://xmlns.com/foaf/0.1/'
const RDF_TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
const TERMS = 'http://entrystore.org/terms/'

/** Objects of an RDF/JSON graph. */
const uri = (value: string) => ({ type: 'uri', value })
const literal = (value: string, lang?: string) => ({ type: 'literal', value, ...(lang === undefined ? {} : { lang }) })

/** Fills an empty store. @returns addresses for visitors without an account: a public link, and a dataset that guests may read */
export async function fillStore(base: string): Promise<{ readonly link: string; readonly dataset: string }> {
  const admin = await Visitor.signIn(base, 'admin', DEMO_PASSWORD)
  const ids: string[] = []
  for (const { name, fullName } of demoUsers) ids.push(await addUser(admin, name, fullName))
  const [annaId = '', boId = '', carlaId = ''] = ids
  const editors = await admin.create('_principals?graphtype=group&name=editors', {
    metadata: {
      [admin.at('_principals/resource/_newId')]: { [FOAF + 'name']: [literal('Editors')] },
    },
  })
  await admin.put(`_principals/resource/${editors}`, [annaId, boId])

  const survey = await addSpace(admin, 'survey', 'Survey of the harbour', { write: [annaId, editors] })
  await admin.put(`${survey}/quota`, { quota: 150_000_000 })
  const open = await addSpace(admin, 'open-data', 'Open data', { write: [annaId], read: ['_guest'] })
  const own = await addSpace(admin, 'anna', 'Anna Andersson', { write: [annaId] })
  await admin.put(`_principals/resource/${annaId}`, { homecontext: own })

  const anna = await Visitor.signIn(base, 'anna', DEMO_PASSWORD)
  const pictures = await addFolder(anna, survey, 'Pictures')
  for (const picture of demoPictures) await addFile(anna, survey, picture, pictures)
  for (const file of demoFiles) await addFile(anna, survey, file)
  await addLink(anna, survey, 'https://example.org/tide-tables', 'Tide tables')
  const datasets: string[] = []
  for (const dataset of demoDatasets) datasets.push(await addDataset(anna, open, dataset))
  const budget = await addFile(anna, own, {
    name: 'Budget 2027.csv',
    type: 'text/csv',
    bytes: 'Item;Euro\nBoat;12000\nSensors;8400\nTravel;2100\n',
  })
  await shareFile(anna, own, budget, carlaId)
  const { url } = await anna.post(`${survey}/links/${pictures}`, { name: 'For visitors' })
  return { link: String(url), dataset: anna.at(`${open}/metadata/${datasets[0]}`) }
}

async function addUser(admin: Visitor, name: string, fullName: string): Promise<string> {
  return await admin.create('_principals?graphtype=user', {
    resource: { name, password: DEMO_PASSWORD },
    metadata: { [admin.at('_principals/resource/_newId')]: { [FOAF + 'name']: [literal(fullName)] } },
  })
}

/** Creates a context with a name in addresses, a title and an access list of principals. */
async function addSpace(
  admin: Visitor,
  name: string,
  title: string,
  { write, read = [] }: { readonly write: readonly string[]; readonly read?: readonly string[] },
): Promise<string> {
  const id = await admin.create(`_contexts?graphtype=context&id=${name}`)
  await admin.put(`_contexts/metadata/${id}`, { [admin.at(id)]: { [`${DCTERMS}title`]: [literal(title)] } })
  const principals = (keys: readonly string[]) => keys.map(key => uri(admin.at(`_principals/resource/${key}`)))
  await admin.put(`_contexts/entry/${id}`, {
    [admin.at(`_contexts/entry/${id}`)]: { [`${TERMS}write`]: principals(write) },
    [admin.at(id)]: { [`${TERMS}read`]: principals(read) },
    [admin.at(`_contexts/metadata/${id}`)]: { [`${TERMS}read`]: principals(read) },
  })
  return id
}

async function addFolder(visitor: Visitor, context: string, title: string): Promise<string> {
  return await visitor.create(`${context}?graphtype=list`, {
    metadata: { [visitor.at(`${context}/resource/_newId`)]: { [`${DCTERMS}title`]: [literal(title)] } },
  })
}

async function addFile(visitor: Visitor, context: string, file: DemoFile, folder?: string): Promise<string> {
  const list = folder === undefined ? '' : `?list=${encodeURIComponent(visitor.at(`${context}/resource/${folder}`))}`
  const id = await visitor.create(`${context}${list}`)
  await visitor.upload(`${context}/resource/${id}`, file)
  return id
}

async function addLink(visitor: Visitor, context: string, address: string, title: string): Promise<string> {
  return await visitor.create(`${context}?entrytype=link&resource=${encodeURIComponent(address)}`, {
    metadata: { [address]: { [`${DCTERMS}title`]: [literal(title)] } },
  })
}

/** Lets one more user read a file and its metadata. */
async function shareFile(visitor: Visitor, context: string, entry: string, reader: string): Promise<void> {
  const path = `${context}/entry/${entry}`
  const info = (await visitor.get(path))['info'] as Readonly<Record<string, object>>
  const readers = { [`${TERMS}read`]: [uri(visitor.at(`_principals/resource/${reader}`))] }
  const subjects = ['resource', 'metadata'].map(part => visitor.at(`${context}/${part}/${entry}`))
  await visitor.put(path, { ...info, ...Object.fromEntries(subjects.map(one => [one, { ...info[one], ...readers }])) })
}

interface Dataset {
  readonly titles: Readonly<Record<string, string>>
  readonly description: string
  readonly keywords: readonly string[]
}

async function addDataset(
  visitor: Visitor,
  context: string,
  { titles, description, keywords }: Dataset,
): Promise<string> {
  return await visitor.create(`${context}?graphtype=none`, {
    metadata: {
      [visitor.at(`${context}/resource/_newId`)]: {
        [RDF_TYPE]: [uri(`${DCAT}Dataset`)],
        [`${DCTERMS}title`]: Object.entries(titles).map(([language, title]) => literal(title, language)),
        [`${DCTERMS}description`]: [literal(description, 'en')],
        [`${DCTERMS}license`]: [uri('http://creativecommons.org/publicdomain/zero/1.0/')],
        [`${DCAT}keyword`]: keywords.map(keyword => literal(keyword, 'en')),
      },
    },
  })
}

const demoPictures: readonly DemoFile[] = [
  {
    name: 'Morning.png',
    type: 'image/png',
    bytes: landscape(800, 500, [
      [255, 214, 170],
      [255, 244, 230],
      [54, 84, 99],
    ]),
  },
  {
    name: 'Noon.png',
    type: 'image/png',
    bytes: landscape(800, 500, [
      [120, 180, 235],
      [225, 240, 250],
      [72, 120, 84],
    ]),
  },
  {
    name: 'Evening.png',
    type: 'image/png',
    bytes: landscape(800, 500, [
      [70, 60, 110],
      [240, 130, 90],
      [30, 34, 52],
    ]),
  },
]

const demoFiles: readonly DemoFile[] = [
  {
    name: 'Read me first.md',
    type: 'text/markdown',
    bytes: `# Survey of the harbour

1. Drop files on the list, or choose *New*.
2. Open a file and describe it in the panel beside it.
3. Share the space, a folder or a file with other people.
`,
  },
  {
    name: 'Tides.csv',
    type: 'text/csv',
    bytes:
      'Time;Height in m\n2026-06-01 00:00;0.42\n2026-06-01 06:10;1.87\n2026-06-01 12:24;0.39\n2026-06-01 18:35;1.91\n',
  },
  { name: 'Notes.txt', type: 'text/plain', bytes: 'The gauge at the north pier was replaced on 3 June.\n' },
]

const demoDatasets: readonly Dataset[] = [
  {
    titles: { en: 'Water levels of the harbour', sv: 'Vattenstånd i hamnen', de: 'Wasserstände im Hafen' },
    description: 'Measured every ten minutes at the north pier.',
    keywords: ['water', 'tide', 'harbour'],
  },
  {
    titles: { en: 'Berths', sv: 'Kajplatser', de: 'Liegeplätze' },
    description: 'Position, length and depth of each berth.',
    keywords: ['berth', 'harbour'],
  },
]
