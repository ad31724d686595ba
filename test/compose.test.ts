import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { stowage } from './support/cli.ts'
import { repository } from './support/service.ts'
import { shipped } from './support/shipped.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

interface ComposeService {
  readonly image: string
  readonly build?: { readonly context: string; readonly dockerfile: string }
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
  readonly networks?: { readonly default: { readonly ipv4_address: string } }
  readonly stop_grace_period?: string
  readonly read_only?: boolean
  readonly depends_on?: readonly string[] | Readonly<Record<string, unknown>>
}

interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>
  readonly volumes: Readonly<Record<string, null>>
}

/** A compose file with a value in the place of each variable. */
async function compose(file: string): Promise<Compose> {
  const text = (await shipped(file)).replaceAll(/\$\{(\w+)[^}]*\}/g, (_, name: string) =>
    name === 'TOKEN_KEY' ? Buffer.alloc(32, name).toString('base64') : `1234567890${name}`,
  )
  return parse(text, { merge: true }) as Compose
}

const files = ['compose.yaml', 'compose-nodes.yaml', 'compose-cores.yaml']

test('what a compose file mounts, builds and depends on exists, and the service has time to drain', async () => {
  for (const file of files) {
    const { services, volumes } = await compose(file)
    for (const [name, service] of Object.entries(services)) {
      for (const [from = ''] of (service.volumes ?? []).map(volume => volume.split(':'))) {
        // The certificate is for the operator to put there.
        const isThere = from.startsWith('.') ? existsSync(join(repository, 'deploy', from)) : from in volumes
        assert.ok(isThere || from === './tls', `${file}: ${name} mounts ${from}`)
      }
      const others = service.depends_on ?? []
      for (const other of Array.isArray(others) ? others : Object.keys(others)) assert.ok(other in services, other)
      if (service.build)
        assert.ok(existsSync(join(repository, 'deploy', service.build.context, service.build.dockerfile)), name)
      if (service.image === 'stowage') {
        assert.ok(service.read_only)
        assert.ok(Number.parseInt(service.stop_grace_period ?? '0', 10) >= 30, `${file}: ${name}`)
      }
    }
  }
})

test('every setting in the compose files exists and has a right value, together with what the image sets', async () => {
  const folder = await temporaryFolder()
  const [, line = ''] = /^ENV (.*)$/m.exec(await shipped('Containerfile')) ?? []
  const image = Object.fromEntries(line.split(' ').map(pair => pair.split('=') as [string, string]))
  assert.ok('SERVICE_DATA_FOLDER' in image, 'the test finds nothing any more')
  for (const file of files) {
    const { services } = await compose(file)
    for (const { environment } of Object.values(services).filter(({ image }) => image === 'stowage')) {
      const own = Object.fromEntries(Object.entries(environment ?? {}))
      assert.ok(Object.keys(own).length > 4)
      const { status, stderr } = await stowage(folder, ['config', 'check', '--strict'], { ...image, ...own })
      assert.deepEqual([status, stderr], [0, ''])
    }
  }
})

for (const file of ['compose-nodes.yaml', 'compose-cores.yaml']) {
  test(`the nodes of ${file} have the addresses of nginx-nodes.conf`, async () => {
    const { services } = await compose(file)
    const addresses = Object.values(services)
      .filter(({ image }) => image === 'stowage')
      .map(({ networks }) => networks?.default.ipv4_address)
    const named = [...(await shipped('nginx-nodes.conf')).matchAll(/server (\S+):8080/g)].map(([, address]) => address)
    assert.deepEqual(addresses, named)
  })
}
