import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { fill, holds, migrateStore, succeeded } from '../support/backups.ts'
import { stowage } from '../support/cli.ts'
import { cephGateway } from '../support/peers/ceph-gateway.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { useGateway } from '../support/s3.ts'
import { newContext, newEntry, startProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { putFile } from '../support/uploads.ts'
import { eventually } from '../support/waiting.ts'

if (!cephGateway.available()) test('copies of a store in a bucket', t => void requirePeer(t, cephGateway))
else {
  const gateway = useGateway(before, after)
  const quota = { 'service.data.quota': 'on' }

  test('files go from a folder to a bucket, from there into a backup, and from the backup to a folder', async t => {
    const parent = await temporaryFolder()
    const run = async (...args: string[]): Promise<string> => succeeded(await stowage(parent, args, gateway().env))
    const first = await startProcess(t, { settings: { ...quota, 'service.data.store': 'folder' } })
    const contents = await fill(first, await first.admin())
    await first.stop()

    const scaled = [
      `service.data.folder=${join(parent, 'scaled')}`,
      `service.data.store=s3://${gateway().bucket}/migrated`,
    ]
    const from = [`service.data.folder=${first.folder}`]
    assert.match(
      succeeded(await migrateStore(from, scaled, parent, gateway().env)),
      /5 files with 100000 bytes, 5 of them copied now/,
    )
    const settings = { ...quota, 'service.data.store': `s3://${gateway().bucket}/migrated` }
    const second = await startProcess(t, { folder: join(parent, 'scaled'), settings })
    await holds(second, contents)
    assert.match(second.output(), /keeps its data in .*s3:\/\/.*\/migrated/)
    assert.doesNotMatch(second.output(), /AWS SDK/)

    const place = scaled.flatMap(setting => ['--set', setting])
    assert.match(await run('doctor', ...place), /^files: s3:\/\//m)
    const wrong = await stowage(
      parent,
      ['doctor', '--set', scaled[0] ?? '', '--set', 'service.data.store=s3://nobody-has-it'],
      gateway().env,
    )
    assert.equal(wrong.status, 1)
    assert.match(wrong.stdout, /^problem: files: The bucket nobody-has-it cannot be used: there is no such bucket/m)
    assert.match(await run('backup', 'backup', ...place), /5 files/)
    await second.stop()
    assert.match(await run('fsck', ...place), /0 findings/)
    const restored = [`service.data.folder=${join(parent, 'restored')}`]
    await run('restore', 'backup', '--set', restored[0] ?? '')
    await holds(
      await startProcess(t, {
        folder: join(parent, 'restored'),
        settings: { ...quota, 'service.data.store': 'folder' },
      }),
      contents,
    )
    const taken = await migrateStore(
      from,
      [`service.data.folder=${join(parent, 'new')}`, scaled[1] ?? ''],
      parent,
      gateway().env,
    )
    assert.equal(taken.status, 1)
    assert.match(taken.stderr, /already contains files/)
  })

  test('the service backs itself up into a bucket, also files of several parts, and a restore finds all of it', async t => {
    const target = `s3://${gateway().bucket}/kept`
    const first = await startProcess(t, { settings: { ...quota, 'service.data.store': 'folder' } })
    const admin = await first.admin()
    const contents = await fill(first, admin)
    const context = await newContext(admin)
    const path = `${context}/resource/${await newEntry(admin, context)}`
    const large = 'large '.repeat(4_000_000)
    assert.equal((await putFile(admin, path, large)).status, 201)
    await first.stop()
    const secret = await generateX25519Identity()
    const settings = {
      ...quota,
      'service.data.store': 'folder',
      'service.backup.schedule': '0 0 29 2 *',
      'service.backup.target': target,
      'service.backup.encrypt-to.1': await identityToRecipient(secret),
    }
    const second = await startProcess(t, { folder: first.folder, settings })
    const run = async (...args: string[]): Promise<string> =>
      succeeded(await stowage(first.folder, args, gateway().env))
    // Until there is one, the command fails.
    const list = async () => await stowage(first.folder, ['backup', 'list', target], gateway().env)
    await eventually('the backup', async () => /6 files/.test((await list()).stdout))
    await second.stop()
    assert.match(await run('backup', 'verify', target), /6 files with \d+ bytes checked, 0 damaged/)
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'key.txt'), `${secret}\n`)
    const data = join(folder, 'restored')
    await run('restore', target, '--identity', join(folder, 'key.txt'), '--set', `service.data.folder=${data}`)
    const third = await startProcess(t, { folder: data, settings: { ...quota, 'service.data.store': 'folder' } })
    await holds(third, contents)
    assert.equal((await (await third.admin()).get(path)).text, large)
  })
}
