// Bundles the program of src/ and migration/, and their packages into dist/program: a start reads some large files instead of about 450 small ones, in each
// thread and each process again (adr: sources-as-they-are). What is imported on demand stays in files of its own.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, relative, sep } from 'node:path'
import { build } from 'esbuild'
import { root } from './prepare.mjs'
import { separate } from './separate-packages.mjs'

const SERVER = 'src/assembly/server.ts'
/** The module of the program. */
const servers = ['src/commands/main.ts']
/** The modules of the other threads. A thread is found under its name beside the module that starts it. */
const workers = [
  'src/assembly/reader-thread.ts',
  'src/features/backups/backup-thread.ts',
  'src/features/backups/proof-thread.ts',
  'src/accounts/hash-thread.ts',
  'src/graph/read-worker.ts',
  'src/features/saml/federation-worker.ts',
  'src/features/saml/verify-worker.ts',
]

/** Packages that bundled ones use only where they are installed, or only for what this program does not use: the compilers of schemas. */
const absent = [
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
  '@node-rs/xxhash',
  'pg-native',
  'rdf-canonize-native',
]

const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)/i

const into = join(root, 'dist/program')
rmSync(into, { recursive: true, force: true })
// Apart, because what both need would be split off into files that each of them waits for.
const results = [await bundle(servers, [besideServer(), namesOfPackages()]), await bundle(workers, [namesOfPackages()])]
const inputs = [...new Set(results.flatMap(({ inputs }) => Object.keys(inputs)))].sort()
requireThreads(inputs.filter(path => /^(?:src|migration)\//.test(path)))
requireAscii()
const packages = new Set(inputs.flatMap(path => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []))
writeFileSync(join(into, 'LICENSES.txt'), [...packages].map(licenceOf).join('\n'))
process.stderr.write(`The program is in dist/program: ${readdirSync(into).length} files, ${packages.size} packages.\n`)

async function bundle(entries, plugins) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: entries,
    outdir: into,
    // All in one folder: each module finds what lies beside it, and the folders above.
    entryNames: '[name]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    external: ['#lists/*', ...separate, ...absent],
    // Packages in CommonJS load modules of Node.js by it.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    // Each thread keeps the text of its modules. Names stay as they are, and lines short, for stack traces.
    minifyWhitespace: true,
    lineLimit: 160,
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
    plugins,
  })
  return metafile
}

/** The path of a file in the repository. */
function slashed(file) {
  return relative(root, file).split(sep).join('/')
}

/**
 * esbuild makes a file for each set of modules that the same imports need: 80 for a start. Where everything that the running server imports
 * on demand needs the server too, its modules are one set. Commands load without the server.
 */
function besideServer() {
  const namespace = 'beside-server'
  const isOfServer = file => !file.startsWith('src/commands/') && file !== SERVER
  return {
    name: namespace,
    setup(builder) {
      builder.onResolve({ filter: /^\./ }, ({ kind, path, importer, resolveDir }) => {
        if (kind !== 'dynamic-import' || !isOfServer(slashed(importer))) return undefined
        // Relative to the repository, because names of files are made from it.
        return { path: slashed(join(resolveDir, path)), namespace }
      })
      builder.onLoad({ filter: /.*/, namespace }, ({ path }) => ({
        contents: `import './${SERVER}'\nexport * from './${path}'`,
        resolveDir: root,
      }))
    },
  }
}

/** For a package in CommonJS that is imported on demand, esbuild exports only `default`. Node.js knows its names, and this names them. */
function namesOfPackages() {
  const namespace = 'names-of-package'
  return {
    name: namespace,
    setup(builder) {
      builder.onResolve({ filter: /^[^./]/ }, ({ kind, path, importer, resolveDir }) => {
        const isOwn = kind === 'dynamic-import' && !slashed(importer).includes('node_modules/')
        return isOwn && !path.startsWith('node:') ? { path, namespace, pluginData: { resolveDir } } : undefined
      })
      builder.onLoad({ filter: /.*/, namespace }, async ({ path, pluginData }) => {
        const names = Object.keys(await import(path)).filter(name => /^[\w$]+$/.test(name) && name !== 'module.exports')
        return { contents: `export { ${names.join(', ')} } from ${JSON.stringify(path)}`, ...pluginData }
      })
    },
  }
}

/** Without its module a thread would fail at its first task. */
function requireThreads(paths) {
  const names = new Set([...servers, ...workers].map(entry => basename(entry, '.ts')))
  for (const path of paths) {
    for (const [, name] of readFileSync(join(root, path), 'utf8').matchAll(/threadModule\('([^']+)'/g)) {
      if (!names.has(name)) throw new Error(`${path} starts the thread ${name}, which scripts/build-program.mjs lacks.`)
    }
  }
}

/** A single other character, such as a dash in a template, doubles the memory that the text of a file takes in each thread. */
function requireAscii() {
  for (const name of readdirSync(into).filter(name => name.endsWith('.js'))) {
    const found = /.{0,60}[\u0080-\uffff].{0,60}/.exec(readFileSync(join(into, name), 'utf8'))
    if (found) throw new Error(`dist/program/${name} has a character outside ASCII; write it as an escape: ${found[0]}`)
  }
}

function licenceOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
  const files = readdirSync(join(root, folder)).filter(entry => LICENCE_FILE.test(entry))
  const texts = files.map(file => readFileSync(join(root, folder, file), 'utf8').trim())
  return [`${name} ${version} (${license})`, ...texts, ''].join('\n\n')
}
