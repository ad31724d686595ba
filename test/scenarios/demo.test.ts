import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { Visitor } from '../support/http-client.ts'
import { program } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('the demonstration works as its output says, and leaves nothing behind', async t => {
  const folder = await temporaryFolder()
  const child = spawn(process.execPath, [program, 'demo', '--port', '0'], {
    cwd: folder,
    // A setting of the real service of the machine does not count.
    env: { PATH: process.env['PATH'], TMPDIR: folder, SERVICE_HTTP_HOST: '192.0.2.1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line)
    if (line.startsWith('Ctrl-C')) break
  }
  const found = (form: RegExp): string => {
    const [, value] = lines.map(line => form.exec(line)).find(match => match !== null) ?? []
    assert.ok(value !== undefined, `${String(form)} in ${lines.join('\n')}`)
    return value
  }
  const base = found(/^Open (\S+) /)
  const password = found(/ password (\S+) as$/)
  const visitor = async (name: string): Promise<Visitor> => {
    const visitor = new Visitor(base)
    assert.equal((await visitor.signIn(name, password)).status, 200)
    return visitor
  }

  const [admin, anna, bo, carla] = [
    await visitor('admin'),
    await visitor('anna'),
    await visitor('bo'),
    await visitor('carla'),
  ]
  assert.equal((await admin.get('auth/user')).json()['isAdmin'], true)
  assert.equal((await anna.get('survey/resource/1')).status, 200)
  assert.equal((await bo.post('survey')).status, 201, 'Bo may write as a member of the group')
  assert.equal((await carla.get('survey/entry/1')).status, 403)
  assert.equal((await carla.get('anna/resource/1')).text, 'Item;Euro\nBoat;12000\nSensors;8400\nTravel;2100\n')
  const { info } = (await carla.get('anna/entry/1')).json<{ info: Record<string, Record<string, unknown>> }>()
  assert.equal(
    JSON.stringify(info[`${base}anna/resource/1`]).includes('Budget 2027.csv'),
    true,
    'the file keeps its name when it is shared',
  )
  const dataset = found(/^Anybody may read the metadata at (\S+)$/)
  assert.match((await new Visitor(base).get(dataset.slice(base.length))).text, /Water levels of the harbour/)
  assert.match(found(/^A visitor without an account opens (\S+)$/), /\/ui\/link#[\w-]{43}$/)

  child.kill('SIGINT')
  const [status] = (await once(child, 'exit')) as [number | null]
  assert.equal(status, 0)
  assert.deepEqual(await readdir(folder), [])
})
