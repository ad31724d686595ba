// Bundles the pages of `ui/` into the folders named as arguments, by default dist/ui. File names contain a
// hash of the content, so browsers may cache them for ever; manifest.json maps names to files.
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { root } from './prepare.mjs'

/** The licences of the bundled packages. */
const licences = {
  preact: 'preact/LICENSE',
  'virtual-core': '@tanstack/virtual-core/LICENSE',
  uplot: 'uplot/LICENSE',
  pdfjs: 'pdfjs-dist/LICENSE',
}

const entries = { app: 'ui/app.tsx', login: 'ui/login.ts', style: 'ui/style.css', icon: 'ui/icon.svg' }

/** A script of its own: a page without origin loads no modules. */
const classic = { pdf: 'ui/pdf.ts' }

for (const folder of process.argv.length > 2 ? process.argv.slice(2) : ['dist/ui']) {
  const target = join(root, folder)
  rmSync(target, { recursive: true, force: true })
  const common = {
    absWorkingDir: root,
    outdir: target,
    entryNames: '[name]-[hash]',
    bundle: true,
    target: 'es2022',
    minify: true,
    tsconfig: 'ui/tsconfig.json',
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  }
  const entryPoints = of => Object.entries(of).map(([out, from]) => ({ in: from, out }))
  const { metafile } = await build({
    ...common,
    entryPoints: entryPoints(entries),
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    // Rarely used parts are loaded when they are needed.
    splitting: true,
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.svg': 'copy' },
  })
  const ofClassic = await build({ ...common, entryPoints: entryPoints(classic), format: 'iife' })
  const made = Object.entries({ ...metafile.outputs, ...ofClassic.metafile.outputs })
  const manifest = Object.fromEntries(
    Object.entries({ ...entries, ...classic }).map(([name, from]) => [name, basename(fileOf(made, name, from))]),
  )
  for (const [name, from] of Object.entries(licences))
    copyFileSync(join(root, 'node_modules', from), join(target, `${name}.LICENSE.txt`))
  compressAll(target)
  writeFileSync(join(target, 'words.json'), JSON.stringify(await wordsOfThePages()))
  writeFileSync(join(target, 'manifest.json'), JSON.stringify(manifest))
  process.stderr.write(`The pages are in ${folder}: ${readdirSync(target).length} files.\n`)
}

/** The texts of the service's own pages by language: the keys of `ui/messages` that begin with `page.`. */
async function wordsOfThePages() {
  const words = {}
  const languages = readdirSync(join(root, 'ui/messages')).map(name => name.replace(/\.ts$/, ''))
  for (const language of ['en', ...languages.filter(language => language !== 'en')]) {
    const file = join(root, `ui/messages/${language}.ts`)
    const { outputFiles } = await build({ entryPoints: [file], bundle: true, format: 'esm', write: false })
    const { default: messages } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`)
    const own = Object.entries(messages).filter(([key]) => key.startsWith('page.'))
    words[language] = Object.fromEntries(own.map(([key, text]) => [key.slice('page.'.length), text]))
  }
  return words
}

/** Browsers get these files. Compressing this well takes too long for a start or a request. */
function compressAll(folder) {
  for (const name of readdirSync(folder).filter(name => /\.(js|css|svg)$/.test(name))) {
    const bytes = readFileSync(join(folder, name))
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes))
    writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }))
  }
}

function fileOf(made, name, from) {
  const isScript = /\.tsx?$/.test(from)
  const found = made.find(([file, { entryPoint, inputs }]) =>
    isScript
      ? entryPoint === from
      : file.endsWith(from.slice(from.lastIndexOf('.'))) && Object.keys(inputs).includes(from),
  )
  if (!found) throw new Error(`nothing was made of ${name}`)
  return found[0]
}
