// Writes lists/common-passwords.filter, the list for `service.auth.password.rule.breached=included`, from the passwords that
// @zxcvbn-ts/language-common holds.
import './runtime.mjs'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dictionary } from '@zxcvbn-ts/language-common'
import { root } from './prepare.mjs'

const { main } = await import('../src/commands/main.ts')
const folder = mkdtempSync(join(tmpdir(), 'stowage-'))
const list = join(folder, 'passwords')
writeFileSync(list, `${dictionary['passwords-common'].join('\n')}\n`)
const output = join(root, 'lists/common-passwords.filter')
process.exitCode = await main(['breached-passwords', 'build', '--plain', '--output', output, list])
rmSync(folder, { recursive: true })
