// Bundles the pages of `ui/` into dist/ui. File names contain a hash of the content, so
// browsers may cache them for ever; manifest.json maps names to files.
import './runtime.mjs'
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build, transform } from 'esbuild'
import { rollup } from '@rollup/wasm-node'
import { root } from './prepare.mjs'

/** The licences of the bundled packages. */
const licences = {
  preact: 'preact/LICENSE',
  'virtual-core': '@tanstack/virtual-core/LICENSE',
  uplot: 'uplot/LICENSE',
  marked: 'marked/LICENSE',
  uqr: 'uqr/LICENSE',
  pdfjs: 'pdfjs-dist/LICENSE',
  simplewebauthn: '@simplewebauthn/browser/LICENSE.md',
}

/** Modules that pages load; what they import on demand is split off. */
const modules = { app: 'ui/app.tsx', login: 'ui/login.ts' }

const others = {
  style: 'ui/style.css',
  icon: 'ui/icon.svg',
  // A script of its own: a page without origin loads no modules.
  pdf: 'ui/pdf.ts',
}

/** A script smaller than this is joined with another one, because a request takes longer than its bytes. */
const MIN_SCRIPT = 3_000

const target = 'es2022'

/**
 * Rollup leaves in the first script what all pages share, and joins small scripts. esbuild, which compiles, would split off each
 * combination of modules: about thirty requests for the first page.
 */
async function buildModules(into) {
  const languages = languageTags()
  const bundle = await rollup({
    input: Object.fromEntries([
      ...Object.entries(modules).map(([name, from]) => [name, join(root, from)]),
      ...languages.map(tag => [tag, join(root, languageFile(tag))]),
    ]),
    preserveEntrySignatures: 'allow-extension',
    plugins: [compiler],
    logLevel: 'warn',
    onwarn: warning => {
      throw new Error(warning.message)
    },
  })
  const { output } = await bundle.write({
    dir: into,
    format: 'es',
    entryFileNames: '[name]-[hash].js',
    chunkFileNames: '[name]-[hash].js',
    hashCharacters: 'base36',
    experimentalMinChunkSize: MIN_SCRIPT,
  })
  await bundle.close()
  const chunks = new Map(output.map(chunk => [chunk.fileName, chunk]))
  const named = names => names.map(name => [name, output.find(chunk => chunk.isEntry && chunk.name === name).fileName])
  const withImports = file => [file, ...chunks.get(file).imports.flatMap(withImports)]
  const [[, app]] = named(['app'])
  return {
    names: named(Object.keys(modules)),
    languages: named(languages),
    /** Scripts besides that of the application, which the page needs before it can be drawn. */
    neededFor: page => {
      const module = page && join(root, 'ui', page)
      const chunk = module && output.find(({ moduleIds }) => moduleIds?.includes(module))
      if (module && !chunk) throw new Error(`There is no script of ${page}.`)
      const needed = new Set([...withImports(app), ...(chunk ? withImports(chunk.fileName) : [])])
      return [...needed].filter(file => file !== app)
    },
  }
}

/** What Node.js imports by these names is no module of JavaScript, which Rollup reads only. */
const modulesOf = { uplot: 'uplot/dist/uPlot.esm.js' }

/** Compiles TypeScript and JSX, finds packages as Node.js does, and makes the result small. */
const compiler = {
  name: 'esbuild',
  resolveId: name => (/^[./]/.test(name) ? undefined : fileURLToPath(import.meta.resolve(modulesOf[name] ?? name))),
  transform: async (code, file) => {
    if (dirname(file) === join(root, 'ui/messages')) {
      const { default: messages } = await load(relative(root, file))
      return `export default ${JSON.stringify(select(messages, key => !key.startsWith(OF_SERVICE)))}`
    }
    const loader = extname(file).slice(1)
    if (loader !== 'ts' && loader !== 'tsx') return undefined
    const jsx = { jsx: 'automatic', jsxImportSource: 'preact' }
    return (await transform(code, { loader, target, sourcefile: file, ...jsx })).code
  },
  renderChunk: async code => {
    const define = { 'process.env.NODE_ENV': '"production"' }
    return (await transform(code, { minify: true, define, format: 'esm', target, legalComments: 'none' })).code
  },
}

/** Style, icon, and scripts that are no modules, by name. */
async function buildOthers(into) {
  const entryPoints = Object.entries(others).map(([out, from]) => ({ in: from, out }))
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints,
    outdir: into,
    entryNames: '[name]-[hash]',
    bundle: true,
    format: 'iife',
    target,
    minify: true,
    tsconfig: 'ui/tsconfig.json',
    loader: { '.svg': 'copy' },
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  })
  return Object.fromEntries(
    Object.entries(others).map(([name, from]) => {
      const found = Object.entries(metafile.outputs).find(([, { entryPoint, inputs }]) =>
        entryPoint === undefined ? Object.keys(inputs).includes(from) : entryPoint === from,
      )
      if (!found) throw new Error(`nothing was made of ${name}`)
      return [name, basename(found[0])]
    }),
  )
}

function languageTags() {
  const files = readdirSync(join(root, 'ui/messages')).filter(name => name.endsWith('.ts'))
  const languages = files.map(name => name.replace(/\.ts$/, ''))
  return ['en', ...languages.filter(language => language !== 'en')]
}

function languageFile(tag) {
  return `ui/messages/${tag}.ts`
}

/** The keys of the texts of pages and mails that the service writes itself. The application does without them. */
const OF_SERVICE = 'page.'

const select = (messages, isWanted) => Object.fromEntries(Object.entries(messages).filter(([key]) => isWanted(key)))

/** The texts of the service's own pages by language. */
async function wordsOfThePages() {
  const words = {}
  for (const language of languageTags()) {
    const { default: messages } = await load(languageFile(language))
    const own = Object.entries(select(messages, key => key.startsWith(OF_SERVICE)))
    words[language] = Object.fromEntries(own.map(([key, text]) => [key.slice(OF_SERVICE.length), text]))
  }
  return words
}

/** Runs a module of `ui/` here. */
async function load(file) {
  const entryPoints = [join(root, file)]
  const { outputFiles } = await build({ entryPoints, bundle: true, format: 'esm', write: false })
  return await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`)
}

/** Browsers get these files. Compressing this well takes too long for a start or a request. */
function compressAll(folder) {
  for (const name of readdirSync(folder).filter(name => /\.(js|css|svg)$/.test(name))) {
    const bytes = readFileSync(join(folder, name))
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes))
    writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }))
  }
}

const into = join(root, 'dist/ui')
rmSync(into, { recursive: true, force: true })
const scripts = await buildModules(into)
const names = { ...(await buildOthers(into)), ...Object.fromEntries(scripts.names) }
for (const [name, from] of Object.entries(licences))
  copyFileSync(join(root, 'node_modules', from), join(into, `${name}.LICENSE.txt`))
compressAll(into)
const { preloads } = await load('ui/preloads.ts')
const manifest = {
  ...names,
  languages: Object.fromEntries(scripts.languages),
  pages: preloads.map(({ pattern, page, data }) => ({ pattern, scripts: scripts.neededFor(page), data })),
}
writeFileSync(join(into, 'words.json'), JSON.stringify(await wordsOfThePages()))
writeFileSync(join(into, 'manifest.json'), JSON.stringify(manifest))
process.stderr.write(`The pages are in dist/ui: ${readdirSync(into).length} files.\n`)
