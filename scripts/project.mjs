// The addresses and the version of the project: package.json holds each once, and `npm run docs` writes them into every document.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './prepare.mjs'

const { repository, bugs, config, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Stands in an address until the first maintainer has chosen it (RELEASING.md). */
export const PLACEHOLDER = 'OWNER'

const address = repository.url.replace(/^git\+/, '').replace(/\.git$/, '')

export const project = {
  repository: address,
  name: new URL(address).pathname.slice(1),
  image: config.image,
  contact: bugs.email,
  version,
}

/** What these look like in a document, whatever the owner; the version stands in names of packages. */
const forms = {
  repository: /https:\/\/[\w.-]+\/[\w.-]+\/stowage\b/g,
  name: /(?<=--repo )[\w.-]+\/stowage\b/g,
  image: /(?<![\w/.-])[\w-]+(?:\.[\w-]+)+\/[\w.-]+\/stowage\b/g,
  contact: /\bstowage-security@[\w.-]*\w/g,
  version: /(?<=\bstowage[-_])\d+\.\d+\.\d+[\w.-]*?(?=_amd64|-linux|\.tgz)/g,
}

/** @returns the text with the addresses and the version of package.json */
export function withProject(text) {
  return Object.entries(forms).reduce((changed, [name, form]) => changed.replaceAll(form, project[name]), text)
}
