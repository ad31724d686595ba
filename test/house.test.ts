import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix, relative, sep } from 'node:path'
import { test } from 'node:test'
import { auditEvents } from '../src/accounts/audit.ts'
import { errorCodes } from '../src/base/error-codes.ts'
import { keys } from '../src/config/keys.ts'
import { features } from '../src/features/features.ts'
import { repository } from './support/service.ts'

const MAX_LINES = 400

interface Source {
  /** Relative to `src/`, or below `migration/`, with slashes. */
  readonly path: string
  readonly text: string
  /** What it imports: paths in the same form, or names of packages. */
  readonly files: readonly string[]
  readonly packages: readonly string[]
}

const slashed = (path: string): string => path.split(sep).join('/')
const inSrc = (path: string): string => path.replace(/^src\//, '')
/** The folder of a module in the repository. */
const folderOf = (module: string): string => (/^migration(\/|$)/.test(module) ? module : `src/${module}`)

function readSources(): Source[] {
  return ['src', 'migration']
    .flatMap(folder => readdirSync(join(repository, folder), { recursive: true, withFileTypes: true }))
    .filter(entry => entry.isFile() && entry.name.endsWith('.ts'))
    .map(entry => {
      const file = join(entry.parentPath, entry.name)
      const path = slashed(relative(repository, file))
      const text = readFileSync(file, 'utf8')
      const named = [...text.matchAll(/(?<!')(?:from|import) '([^']+)'|import\('([^']+)'\)/g)].map(
        match => match[1] ?? match[2] ?? '',
      )
      // Only types come from there: which words the pages have.
      const own = named.filter(name => name !== '../../../ui/messages/en.ts')
      const files = own.filter(name => name.startsWith('.')).map(name => inSrc(posix.join(dirname(path), name)))
      return { path: inSrc(path), text, files, packages: own.filter(name => !name.startsWith('.')) }
    })
}

/** Module → the modules it may import, as the table of docs/architecture.md says. */
function readModules(): ReadonlyMap<string, readonly string[] | 'everything'> {
  const page = readFileSync(join(repository, 'docs/architecture.md'), 'utf8')
  const rows = [...page.matchAll(/^\| `([a-z0-9/]+)\/` \| [^|]+ \| ([^|]+) \|$/gm)]
  return new Map(
    rows.map(([, module = '', may = '']) => [
      module,
      may === 'everything' ? may : may === 'nothing' ? [] : may.split(',').map(name => name.trim()),
    ]),
  )
}

const sources = readSources()
const moduleOf = (path: string): string => (path.includes('/') ? dirname(path) : '')
/** The name of a feature, for its files. */
const featureOf = (path: string): string | undefined => /^features\/([^/]+)\//.exec(path)?.[1]
const table = readModules()
/** Those of the table, which all features may import, and the folders of features. */
const modules = new Map([...table, ...features.map(({ name }) => [`features/${name}`, 'everything'] as const)])
const importers = (name: RegExp): string[] =>
  sources.filter(({ packages }) => packages.some(used => name.test(used))).map(({ path }) => path)
const users = (what: RegExp): string[] => sources.filter(({ text }) => what.test(text)).map(({ path }) => path)

test('the table of modules and the folders under src/ and migration/ are the same', () => {
  const folders = new Set(sources.map(({ path }) => moduleOf(path)).filter(module => module !== ''))
  assert.ok(sources.length > 50, 'the sources were not found')
  assert.deepEqual([...modules.keys()].sort(), [...folders].sort())
})

test('a module imports only the modules that the table names', () => {
  const wrong = sources.flatMap(({ path, files }) => {
    const module = moduleOf(path)
    const may = modules.get(module) ?? []
    return files
      .filter(file => may !== 'everything' && moduleOf(file) !== module && !may.includes(moduleOf(file)))
      .map(file => `${path} imports ${file}`)
  })
  assert.deepEqual(wrong, [])
})

test('a feature is a folder: features.ts lists all of them, and each uses the core and those before it', () => {
  const names = features.map(({ name }) => name)
  const folders = new Set(sources.flatMap(({ path }) => featureOf(path) ?? []))
  assert.deepEqual([...names].sort(), [...folders].sort())
  const wrong = sources.flatMap(({ path, files }) => {
    const name = featureOf(path)
    if (name === undefined) return []
    const may = names.slice(0, names.indexOf(name) + 1)
    return files
      .filter(
        file =>
          !may.includes(featureOf(file) ?? name) || /^(assembly|commands|migration)\/|^features\/[^/]+$/.test(file),
      )
      .map(file => `${path} imports ${file}`)
  })
  assert.deepEqual(wrong, [])
})

test('the core imports no feature: only features.ts, assembly/, commands/, migration/ and the table of settings do', () => {
  const wrong = sources
    .filter(({ path }) => !/^((features|assembly|commands|migration)\/|config\/keys\.ts$)/.test(path))
    .flatMap(({ path, files }) =>
      files.filter(file => file.startsWith('features/')).map(file => `${path} imports ${file}`),
    )
  assert.deepEqual(wrong, [])
})

const { featureUses } = (await import(join(repository, 'scripts/reference/features.mjs'))) as {
  readonly featureUses: () => ReadonlyArray<{ readonly name: string; readonly files: readonly string[] }>
}

test('a feature is named by few files outside its folder: three in the median, eight at most', () => {
  const counts = featureUses()
    .map(({ files }) => files.length)
    .sort((a, b) => a - b)
  assert.ok((counts[0] ?? 0) > 0, 'the test finds nothing: features.ts imports each of them')
  assert.ok((counts[Math.floor(counts.length / 2)] ?? 0) <= 3, counts.join(', '))
  assert.ok((counts.at(-1) ?? 0) <= 8, counts.join(', '))
})

test('a setting, error code or audit event that only one feature uses is declared by this feature', () => {
  const declared = new Set(
    features.flatMap(({ settings, codes, events }) => [...Object.keys({ ...settings?.rows, ...codes }), ...events]),
  )
  const ofCore = [...Object.keys(keys), ...auditEvents, ...Object.keys(errorCodes)].filter(name => !declared.has(name))
  assert.ok(ofCore.length > 100, 'the names were not found')
  const declaring = /^(config\/|accounts\/audit\.ts$|base\/error-codes\.ts$)/
  const using = sources.filter(({ path }) => !declaring.test(path))
  const wrong = ofCore.flatMap(name => {
    const places = using.filter(({ text }) => text.includes(`'${name}'`)).map(({ path }) => featureOf(path))
    const [feature] = places
    return feature !== undefined && places.every(place => place === feature) ? [`${name}: features/${feature}/`] : []
  })
  assert.deepEqual(wrong, [])
})

test('only the list of commands and the place that translates archives import migration/', () => {
  const users = sources.filter(
    ({ path, files }) => !path.startsWith('migration/') && files.some(file => file.startsWith('migration/')),
  )
  assert.deepEqual(
    users.map(({ path }) => path),
    ['assembly/translate-archive.ts', 'commands/commands.ts'],
  )
})

test('nothing but its own folder names a protocol of sign-on, so a new one is one folder and one line', () => {
  const names = /saml|oidc|\bcas\b|openid/i
  // A client from outside, and the settings of another server, know protocols by their addresses and keys.
  const strangers = /^(features\/verify|migration)\//
  const words = (text: string): string => text.replaceAll(/\/\*[^]*?\*\/|\/\/[^\n]*/g, '')
  const found = sources.filter(({ path, text }) => names.test(path) || names.test(words(text))).map(({ path }) => path)
  assert.deepEqual(
    found.filter(path => !/^features\/(saml|oidc|cas)\//.test(path) && !strangers.test(path)),
    ['features/features.ts'],
  )
  assert.ok(found.length > 1, 'the test finds nothing any more')
})

test('src/ holds modules and nothing beside them', () => {
  assert.deepEqual(
    sources.filter(({ path }) => moduleOf(path) === '').map(({ path }) => path),
    [],
  )
})

test('every import leads to a file', () => {
  const paths = new Set(sources.map(({ path }) => path))
  const wrong = sources.flatMap(({ path, files }) =>
    files.filter(file => !paths.has(file)).map(file => `${path} imports ${file}`),
  )
  assert.deepEqual(wrong, [])
})

test('no file imports itself, directly or indirectly', () => {
  const graph = new Map(sources.map(({ path, files }) => [path, files]))
  const done = new Set<string>()
  const walk = (path: string, way: readonly string[]): string | undefined => {
    if (way.includes(path)) return [...way.slice(way.indexOf(path)), path].join(' → ')
    if (done.has(path)) return undefined
    for (const next of graph.get(path) ?? []) {
      const cycle = walk(next, [...way, path])
      if (cycle !== undefined) return cycle
    }
    done.add(path)
    return undefined
  }
  assert.deepEqual(
    sources.map(({ path }) => walk(path, [])).filter(cycle => cycle !== undefined),
    [],
  )
})

/** What these files import when they are loaded: not types, and not what is imported when it is used. */
function loadedWith(entries: readonly string[]): readonly string[] {
  const found = new Set(entries)
  const packages = new Set<string>()
  for (const path of found) {
    const text = sources.find(source => source.path === path)?.text ?? assert.fail(path)
    for (const [, name = ''] of text.matchAll(/^(?:import|export) (?!type )[^'(;]*?\bfrom '([^']+)'/gm)) {
      if (name.startsWith('.')) found.add(posix.join(dirname(path), name))
      else if (!name.startsWith('node:')) packages.add(name)
    }
  }
  return [...packages].sort()
}

const startModules = ['commands/main.ts', 'commands/serve.ts', 'assembly/server.ts']

test('a start loads the packages that every service needs, and the others when they are used', () => {
  assert.deepEqual(loadedWith(startModules), [
    '@fastify/busboy',
    'content-disposition',
    'fastify',
    'lru-cache',
    'negotiator',
    'pino',
    'prom-client',
    'properties-file/escape',
    'properties-file/parser',
    'yauzl',
    'yazl',
  ])
})

const { separate } = (await import(join(repository, 'scripts/separate-packages.mjs'))) as {
  readonly separate: readonly string[]
}

test('what the program loads with require is outside the bundle, which contains only what is imported', () => {
  const found = sources.flatMap(({ path, text }) =>
    /createRequire/.test(text) ? [...text.matchAll(/require\('([^']+)'\)/g)].map(([, name]) => [path, name]) : [],
  )
  assert.ok(found.length > 0, 'the test finds nothing any more')
  assert.deepEqual(
    found.filter(([, name = '']) => !separate.includes(name)),
    [],
  )
})

test('only http/ knows Fastify and the parsers of HTTP, and features/verify/, which is a client, the requests of Node', () => {
  const wrong = importers(/^(@fastify\/|fastify$|negotiator$|content-disposition$|node:http)/)
  assert.deepEqual(
    wrong.filter(path => !/^(?:http|features\/verify)\//.test(path)),
    [],
  )
  assert.ok(wrong.includes('http/app.ts'), 'the test finds nothing any more')
})

test('only stores/ imports the driver of an engine', () => {
  const found = importers(/sqlite|^pg$|^@redis\/|^@aws-sdk\//)
  assert.deepEqual(
    found.filter(path => !path.startsWith('stores/')),
    [],
  )
  assert.ok(found.length > 0)
})

test('only stores/, search/ and features/search/ write SQL that one engine alone understands, or ask which engine it is', () => {
  const ofOneEngine =
    /sql`[^`]*\b(?:json_each|jsonb?_\w+|PRAGMA|rowid|to_regclass|current_setting|pg_\w+|tsvector|tsquery|fts5|INSERT OR \w+)\b/i
  const found = sources.filter(({ text }) => ofOneEngine.test(text) || /\.engine\b|\bEngine\b/.test(text))
  const wrong = found.map(({ path }) => path).filter(path => !/^(stores|search|features\/search)\//.test(path))
  assert.deepEqual(wrong, [])
  assert.ok(found.some(({ path }) => path === 'search/sqlite.ts'))
})

/** Table → the module that writes its rows, as the list of docs/architecture.md says. */
function readOwners(): ReadonlyMap<string, string> {
  const page = readFileSync(join(repository, 'docs/architecture.md'), 'utf8')
  const rows = [...page.matchAll(/^- `([a-z/-]+)\/` writes (.+)$/gm)]
  return new Map(
    rows.flatMap(([, module = '', names = '']) =>
      [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => [name, module] as const),
    ),
  )
}

/** The tables whose rows a source file inserts, changes or deletes. */
const tablesWritten = (text: string): string[] =>
  [...text.matchAll(/\b(?:INSERT (?:OR \w+ )?INTO|DELETE FROM|(?<!DO )UPDATE) (?:main\.)?([a-z_]+)/g)].map(
    match => match[1] ?? '',
  )

test('the rows of each table are written by one module; backup/ fills all of them', () => {
  const owners = readOwners()
  const written = sources
    .filter(({ path }) => !path.startsWith('backup/') && path !== 'stores/schema.ts')
    .flatMap(({ path, text }) => tablesWritten(text).map(table => ({ path, table })))
  const wrong = written
    .filter(({ path, table }) => owners.get(table) !== moduleOf(path))
    .map(({ path, table }) => `${path} writes ${table}, which ${owners.get(table) ?? 'no module'} owns`)
  assert.deepEqual(wrong, [])
  assert.deepEqual([...owners.keys()].sort(), [...new Set(written.map(({ table }) => table))].sort())
})

test('only changes.ts writes rows of entries, and with them relations and revisions', () => {
  const importersOf = (file: string): string[] =>
    sources.filter(({ files }) => files.includes(file)).map(({ path }) => path)
  assert.deepEqual(importersOf('content/entry-rows.ts'), ['content/changes.ts'])
  for (const table of ['entries', 'retired_ids', 'relations', 'metadata_revisions']) {
    const found = sources.filter(({ path, text }) => path !== 'stores/schema.ts' && tablesWritten(text).includes(table))
    assert.deepEqual(
      found.map(({ path }) => path),
      ['content/entry-rows.ts'],
      table,
    )
  }
})

test('a route never receives an entry that has not been checked: http/ loads no entry and decides no right', () => {
  const wrong = sources
    .filter(({ path }) => path.startsWith('http/') || /^features\/[^/]+\/[a-z-]*routes\.ts$/.test(path))
    .flatMap(({ path, text, files }) => [
      ...files.filter(file => /^content\/(entry-loader|entry-records)\.ts$/.test(file)).map(file => `${path}: ${file}`),
      ...[...text.matchAll(/import \{([^}]*)\} from '[^']*model\/rights\.ts'/g)].map(
        ([, names]) => `${path}: ${names}`,
      ),
    ])
  assert.deepEqual(wrong, [])
  const users = sources.filter(({ files }) => files.includes('content/entry-loader.ts')).map(({ path }) => path)
  assert.ok(users.includes('content/resources.ts'), 'the test finds nothing any more')
})

test('SQL stands only in the modules that own tables, and where searches read the index', () => {
  const modules = new Set(['stores', 'backup', 'features/search', ...readOwners().values()])
  const wrong = users(/\bsql`/).filter(path => !modules.has(moduleOf(path)) && !path.startsWith('stores/'))
  assert.deepEqual(wrong, [])
})

test('only stores/, backup/, features/backups/, features/breached-passwords/, features/verify/, config/, core/, assembly/, base/fetch.ts, commands/, features/saml/ and migration/entrystore/old-folder.ts touch the file system', () => {
  const found = importers(/^node:fs/)
  const wrong = found.filter(
    path =>
      !/^(stores|backup|features\/(backups|breached-passwords|saml|verify)|config|core|assembly|commands)\/|^(base\/fetch|migration\/entrystore\/old-folder)\.ts$/.test(
        path,
      ),
  )
  assert.deepEqual(wrong, [])
  assert.ok(found.length > 0)
})

test('only config/ looks at the environment', () => {
  assert.deepEqual(users(/process\.env\b/), ['config/environment.ts'])
})

test('the pages of ui/ are a client like any other: they import nothing of the service, and write no markup as text', () => {
  const root = join(repository, 'ui')
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map(entry => join(entry.parentPath, entry.name))
  assert.ok(files.length > 10, 'the pages were not found')
  for (const file of files) {
    const text = readFileSync(file, 'utf8')
    const inside = relative(root, dirname(file))
    for (const [, name = ''] of text.matchAll(/(?<!')(?:from|import\(?) ?'([^']+)'/g)) {
      const isOwn = name.startsWith('.') && !posix.join(slashed(inside), name).startsWith('..')
      assert.ok(
        isOwn ||
          /^(preact(\/hooks)?|uqr|@simplewebauthn\/browser|@tanstack\/virtual-core|marked|uplot|pdfjs-dist(\/build\/pdf\.worker\.mjs)?)$/.test(
            name,
          ),
        `${file} imports ${name}`,
      )
    }
    assert.doesNotMatch(text, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(/, file)
  }
})

test('only setCookie writes Set-Cookie, so that no cookie takes another one away', () => {
  const found = users(/'set-cookie'/).filter(path => !path.startsWith('features/verify/'))
  assert.deepEqual(found, ['http/protocol/cookies.ts'])
})

test('time and randomness come from base/system.ts', () => {
  assert.deepEqual(users(/Date\.now\b|new Date\(\)|Math\.random|performance\.now/), ['base/system.ts'])
  assert.deepEqual(users(/import \{[^}]*(?:random|webcrypto)[^}]*\} from 'node:crypto'/i), ['base/system.ts'])
})

test('a file has at most 400 lines', () => {
  const long = sources.filter(({ text }) => text.split('\n').length - 1 > MAX_LINES).map(({ path }) => path)
  assert.deepEqual(long, [])
})

test('every module has a README of at most ten lines after its title', () => {
  const missing = [...modules.keys()].filter(module => !existsSync(join(repository, folderOf(module), 'README.md')))
  assert.deepEqual(missing, [])
  const long = [...modules.keys()].filter(
    module =>
      readFileSync(join(repository, folderOf(module), 'README.md'), 'utf8')
        .trim()
        .split('\n').length > 12,
  )
  assert.deepEqual(long, [])
})

/** Pages whose paths lead into the tree as it is. CHANGELOG.md is not among them: it also names files that are gone. */
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'test/proof/README.md',
  'ui/README.md',
  ...readdirSync(join(repository, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .map(name => `docs/${slashed(name)}`),
  ...[...modules.keys()].map(module => `${folderOf(module)}/README.md`),
]

/** Files and folders of the repository, without build output and packages. */
const tree = ['.ci', 'bench', 'bin', 'deploy', 'docs', 'lists', 'migration', 'scripts', 'src', 'test', 'ui'].flatMap(
  folder => [
    folder,
    ...readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' }).map(
      path => `${folder}/${slashed(path)}`,
    ),
  ],
)

/** May be the end of a path, and may have a `*` for part of a name. */
const SOURCE_FILE = /^[\w.*-]+(?:\/[\w.*-]+)*\.(?:ts|tsx|mjs)$/
/** A whole path. `ui/`, `bin/` and `files/` are left out, because addresses and folders of data begin like this too. */
const IN_FOLDER = /^(?:\.ci|bench|deploy|docs|lists|migration|scripts|src|test)\/[\w./-]*$/
const MODULE = /^(?!files\/)[a-z]+\/(?:[a-z]+\/)*$/
/** `npm run bench` makes it. */
const REPORT = 'bench/report/'

/** Whether a name in backticks is that of a file or folder that does not exist. The README of a module names files of its own. */
function isBroken(name: string, page: string): boolean {
  if (SOURCE_FILE.test(name)) {
    if (name.startsWith('../')) return !tree.includes(posix.join(dirname(page), name))
    const end = new RegExp(`(?:^|/)${name.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}$`)
    const own = /^(src|migration)\//.test(page) ? [`${dirname(page)}/`, `src/${name}`, name] : ['']
    return !tree.some(path => end.test(path) && own.some(start => path.startsWith(start)))
  }
  const path = name.replace(/\/$/, '')
  // A test file may be named as `scripts/test.mjs` takes it.
  if (IN_FOLDER.test(name)) return ![path, `${path}.test.ts`].some(known => tree.includes(known)) && name !== REPORT
  return MODULE.test(name) && modules.has(path.split('/')[0] ?? '') && !tree.includes(folderOf(path))
}

test('every path in backticks on the pages for developers and operators leads to a file or folder', () => {
  const named = pages.flatMap(page => {
    const text = readFileSync(join(repository, page), 'utf8').replaceAll(/^ *```[^]*?^ *```$/gm, '')
    return [...text.matchAll(/`([^`\n]+)`/g)].map(([, name = '']) => ({ page, name }))
  })
  assert.ok(named.filter(({ name }) => SOURCE_FILE.test(name)).length > 200, 'the paths were not found')
  const broken = named.filter(({ page, name }) => isBroken(name, page)).map(({ page, name }) => `${page}: ${name}`)
  assert.deepEqual(broken, [])
})

test('every setting is read outside config/ (D10.1)', () => {
  // `mappings.ts` reads for `assembly/mapping.ts` and for the checks, in the same way.
  const declaring = /^(config\/(?!mappings\.ts)|features\/[^/]+\/settings\.ts)/
  const reading = sources.filter(({ path }) => !declaring.test(path) && !path.startsWith('migration/'))
  const outside = reading.map(({ text }) => text)
  const unread = Object.keys(keys).filter(key => !isRead(key, outside))
  assert.deepEqual(unread, [])
})

const isRead = (key: string, texts: readonly string[]): boolean => texts.some(text => text.includes(`'${key}'`))
