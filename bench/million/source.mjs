// A backup of EntryStore in N-Quads, the same for the same number of entries: graphs as of DCAT, about 25 statements an entry, in 200
// contexts of unequal size, with 500 users, 40 groups, access lists of several kinds, and folders, one of them with a twentieth of all
// entries.
import { createHash, pbkdf2Sync } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { languages, phraseOf, randomOf, rankBelow } from './words.mjs'

export const CONTEXTS = 200
export const USERS = 500
export const GROUPS = 40
/** The user in 20 groups. */
export const MEMBER = 'user1'
export const PASSWORD = 'bench-Password-12'
export const LARGE_FOLDER = { context: '1', id: '1' }

const BASE = 'https://old.example.org/store/'
const ES = 'http://entrystore.org/terms/'
const DCT = 'http://purl.org/dc/terms/'
const DCAT = 'http://www.w3.org/ns/dcat#'
const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'
const XSD = 'http://www.w3.org/2001/XMLSchema#'
const VCARD = 'http://www.w3.org/2006/vcard/ns#'
const FOAF = 'http://xmlns.com/foaf/0.1/'
const SEED = 20_260_101
const MEMBERS = 40
/** Groups have the first ids of `_principals`, users the next. */
const groupId = n => String(n)
const userId = n => String(GROUPS + n)
const principal = id => `_principals/resource/${id}`

/** @returns {Promise<{quads: number, entries: number}>} what was written to `folder` */
export async function writeSource(folder, entries) {
  await mkdir(folder, { recursive: true })
  const out = quadWriter(join(folder, 'repository.nq'))
  const random = randomOf(SEED)
  writePrincipals(out)
  const sizes = sizesOf(entries)
  for (let n = 1; n <= CONTEXTS; n++) await writeContext(out, { n, size: sizes[n - 1], entries, folder }, random)
  const quads = await out.end()
  await writeFile(join(folder, 'BACKUP_DATE'), '20260101000000')
  return { quads, entries }
}

/** The first context has a tenth of all entries, the others less and less. */
function sizesOf(entries) {
  const weights = Array.from({ length: CONTEXTS }, (_, n) => (n === 0 ? 0 : 1 / (n + 5)))
  const all = weights.reduce((sum, weight) => sum + weight, 0)
  const first = Math.ceil(entries / 10)
  return weights.map((weight, n) => (n === 0 ? first : Math.max(1, Math.round(((entries - first) * weight) / all))))
}

function quadWriter(path) {
  const stream = createWriteStream(path)
  let [batch, count] = ['', 0]
  const iri = name => (/^[a-z]+:/.test(name) ? `<${name}>` : name.startsWith('_:') ? name : `<${BASE}${name}>`)
  return {
    /** @param object an IRI, or a literal in N-Quads */
    add(graph, subject, predicate, object) {
      batch += `${iri(subject)} <${predicate}> ${object.startsWith('"') ? object : iri(object)} ${iri(graph)} .\n`
      count++
    },
    async flush() {
      if (batch.length < 2 ** 20) return
      if (!stream.write(batch)) await once(stream, 'drain')
      batch = ''
    },
    async end() {
      stream.end(batch)
      await once(stream, 'finish')
      return count
    },
  }
}

const literal = (text, suffix = '') => `${JSON.stringify(text)}${suffix}`
const inLanguage = (text, language) => literal(text, `@${language}`)
const typed = (text, type) => literal(text, `^^<${XSD}${type}>`)

/** The statements that each entry has in its own graph and in the index of its context. */
function writeHead(out, { context, id, type, created, creator = '_admin' }) {
  const [e, m] = [`${context}/entry/${id}`, `${context}/metadata/${id}`]
  const r = context === '_contexts' ? id : `${context}/resource/${id}`
  out.add(e, e, `${ES}resource`, r)
  out.add(e, e, `${ES}metadata`, m)
  out.add(e, e, `${ES}relation`, `${context}/relations/${id}`)
  out.add(e, e, `${DCT}created`, typed(new Date(created).toISOString(), 'dateTime'))
  out.add(e, e, `${DCT}modified`, typed(new Date(created + 86_400_000).toISOString(), 'dateTime'))
  out.add(e, e, `${DCT}creator`, principal(creator))
  if (type) out.add(e, r, `${RDF}type`, ES + type)
  out.add(context === '_contexts' ? '_contexts/resource/_contexts' : context, r, `${ES}resHasMMd`, e)
  return { e, m, r }
}

function writePrincipals(out) {
  const created = Date.UTC(2020, 0, 1)
  for (const id of ['_contexts', '_principals'])
    writeHead(out, { context: '_contexts', id, type: 'SystemContext', created })
  for (const id of ['_guest', '_admin']) writeHead(out, { context: '_principals', id, type: 'User', created })
  for (const id of ['_admins', '_users']) writeHead(out, { context: '_principals', id, type: 'Group', created })
  const name = (entry, text) => out.add('_principals', entry, `${ES}alias`, literal(text))
  const salt = createHash('md5').update(String(SEED)).digest()
  const key = pbkdf2Sync(PASSWORD, salt, 10_240, 24, 'sha1')
  const hash = literal(`${salt.toString('base64')}$${key.toString('base64')}`)
  out.add(principal('_admin'), principal('_admin'), `${ES}saltedHashedSecret`, hash)
  name('_principals/entry/_admin', 'admin')
  for (let n = 1; n <= GROUPS; n++) {
    const { e, r } = writeHead(out, { context: '_principals', id: groupId(n), type: 'Group', created })
    name(e, `group${n}`)
    // The first user is in every other group.
    const members = Array.from({ length: 25 }, (_, at) => 2 + ((n * 37 + at) % (USERS - 1)))
    if (n % 2 === 1) members.unshift(1)
    for (const [at, user] of members.entries()) out.add(r, r, `${RDF}_${at + 1}`, `_principals/entry/${userId(user)}`)
  }
  for (let n = 1; n <= USERS; n++) {
    const { e, r, m } = writeHead(out, { context: '_principals', id: userId(n), type: 'User', created })
    name(e, `user${n}`)
    out.add(r, r, `${ES}saltedHashedSecret`, hash)
    out.add(m, r, `${FOAF}name`, literal(`User Number ${n}`))
    out.add(e, m, `${ES}read`, principal('_users'))
  }
}

/** Half of the contexts are open to guests, a quarter to all users, the others to groups; each is owned by a user. */
async function writeContext(out, { n, size, entries }, random) {
  const context = String(n)
  const created = Date.UTC(2020, 0, n)
  const { e, r } = writeHead(out, { context: '_contexts', id: context, type: 'Context', created })
  out.add('_contexts/resource/_contexts', e, `${ES}alias`, literal(`context${n}`))
  const readers = n % 4 < 2 ? '_guest' : n % 4 === 2 ? '_users' : groupId(1 + (n % GROUPS))
  for (const [subject, predicate, id] of [
    [r, 'read', readers],
    [r, 'write', groupId(1 + ((n + 7) % GROUPS))],
    [e, 'write', userId(1 + (n % USERS))],
  ])
    out.add(e, subject, ES + predicate, principal(id))
  // Folders have the first ids. In the first context the first of them has half of the entries.
  const folders = Math.max(1, Math.floor(size / 100))
  const large = n === 1 ? Math.ceil(entries / 20) : 0
  let next = folders + 1
  for (let at = 1; at <= folders; at++) {
    const { e, m, r } = writeHead(out, { context, id: String(at), type: 'List', created: created + at })
    out.add(m, r, `${DCT}title`, inLanguage(`Folder ${at}: ${phraseOf('en', 2, random)}`, 'en'))
    writeAccess(out, { e, m, r }, at, random)
    const members = at === 1 && large > 0 ? large : MEMBERS
    for (let position = 1; position <= members && next <= size; position++, next++)
      out.add(r, r, `${RDF}_${position}`, `${context}/entry/${next}`)
  }
  for (let id = folders + 1; id <= size; id++) {
    writeDataset(out, { context, id: String(id), size }, random)
    await out.flush()
  }
}

/** One in ten entries has an access list of its own, of six kinds. */
function writeAccess(out, { e, m, r }, kind, random) {
  const add = (subject, right, id) => out.add(e, subject, ES + right, principal(id))
  const user = () => userId(1 + Math.floor(random() * USERS))
  const group = () => groupId(1 + Math.floor(random() * GROUPS))
  switch (kind % 60) {
    case 0:
      return add(e, 'write', user())
    case 10:
      add(m, 'read', '_guest')
      return add(r, 'read', '_guest')
    case 20:
      return add(m, 'read', '_users')
    case 30:
      add(m, 'read', group())
      return add(r, 'write', group())
    case 40:
      for (let count = 0; count < 5; count++) add(m, 'write', user())
      return
    case 50:
      add(r, 'read', group())
      return add(m, 'read', user())
  }
}

const THEMES = ['AGRI', 'ECON', 'EDUC', 'ENER', 'ENVI', 'GOVE', 'HEAL', 'JUST', 'REGI', 'SOCI', 'TECH', 'TRAN']

function writeDataset(out, { context, id, size }, random) {
  const number = Number(id)
  const created = Date.UTC(2020, 1, 1) + Math.floor(random() * 2000) * 86_400_000 + number
  const creator = userId(1 + rankBelow(USERS, random))
  const { e, m, r } = writeHead(out, { context, id, created, creator })
  writeAccess(out, { e, m, r }, number, random)
  const say = (predicate, object) => out.add(m, r, predicate, object)
  const language = languages[rankBelow(languages.length, random)]
  const isDistribution = number % 3 === 0
  say(`${RDF}type`, DCAT + (isDistribution ? 'Distribution' : 'Dataset'))
  say(`${DCT}title`, inLanguage(phraseOf(language, 3 + Math.floor(random() * 4), random), language))
  if (language !== 'en') say(`${DCT}title`, inLanguage(phraseOf('en', 4, random), 'en'))
  say(`${DCT}description`, inLanguage(phraseOf(language, 15 + Math.floor(random() * 40), random), language))
  for (let count = 0; count < 3; count++) say(`${DCAT}keyword`, inLanguage(phraseOf(language, 1, random), language))
  say(
    `${DCAT}theme`,
    `http://publications.europa.eu/resource/authority/data-theme/${THEMES[rankBelow(THEMES.length, random)]}`,
  )
  say(`${DCT}identifier`, literal(`https://data.example.org/id/${context}-${id}`))
  say(`${DCT}issued`, typed(new Date(created).toISOString().slice(0, 10), 'date'))
  say(`${DCT}language`, `http://publications.europa.eu/resource/authority/language/${language.toUpperCase()}`)
  say(`${DCT}publisher`, `https://data.example.org/organisation/${rankBelow(2000, random)}`)
  say(`${DCT}license`, 'http://creativecommons.org/publicdomain/zero/1.0/')
  say(`${FOAF}page`, `https://data.example.org/about/${context}/${id}`)
  if (isDistribution) {
    say(`${DCAT}byteSize`, typed(String(Math.floor(random() * 1e8)), 'integer'))
    say(`${DCT}format`, literal(['text/csv', 'application/json', 'application/pdf'][rankBelow(3, random)]))
  } else {
    const node = `_:c${context}x${id}`
    say(`${DCAT}contactPoint`, node)
    out.add(m, node, `${VCARD}fn`, literal(`Office ${rankBelow(300, random)}`))
    // Relations: two other entries of the context.
    for (let count = 0; count < 2; count++)
      say(`${DCAT}distribution`, `${BASE}${context}/resource/${1 + Math.floor(random() * size)}`)
  }
}
