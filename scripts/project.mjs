// The addresses of the project: package.json holds each once, and `npm run docs` writes them into every document.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './prepare.mjs'

const { repository, bugs, config } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Stands in an address until the first maintainer has chosen it (RELEASING.md). */
export const PLACEHOLDER = 'OWNER'

const address = repository.url.replace(/^git\+/, '').replace(/\.git$/, '')

export const project = {
  repository: address,
  name: new URL(address).pathname.slice(1),
  image: config.image,
  contact: bugs.email,
}

/** What an address of the project looks like in a document, whatever its owner. */
const forms = {
  repository: /https:\/\/[\w.-]+\/[\w.-]+\/stowage\b/g,
  name: /(?<=--repo )[\w.-]+\/stowage\b/g,
  image: /(?<![\w/.-])[\w-]+(?:\.[\w-]+)+\/[\w.-]+\/stowage\b/g,
  contact: /\bstowage-security@[\w.-]*\w/g,
}

/** @returns the text with the addresses of package.json */
export function withProject(text) {
  return Object.entries(forms).reduce((changed, [name, form]) => changed.replaceAll(form, project[name]), text)
}
