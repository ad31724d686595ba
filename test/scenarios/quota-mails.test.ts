import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addUser, GOOD_PASSWORD, userPath } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { newContext, newEntry, startInProcess } from '../support/service.ts'
import { partOf, startSmtpServer } from '../support/smtp-server.ts'
import { putFile } from '../support/uploads.ts'

const smtp = await startSmtpServer({ after })
const service = await startInProcess(
  { after },
  {
    settings: {
      'service.data.quota': 'on',
      ...smtp.settings,
    },
  },
)
const admin = await service.admin()
const mailsTo = (name: string): number => smtp.mails.filter(({ to }) => to[0] === name).length

const textOf = async (name: string, number = 1): Promise<string> => partOf(await smtp.take(name, number), 'text/plain')

test('a mail tells whoever can act that a quota has reached 80 and 100 %, once for each', async () => {
  const user = await addUser(admin, 'anna@example.org')
  const owner = await addUser(admin, 'owner@example.org')
  const chief = await addUser(admin, 'chief@example.org')
  assert.equal((await admin.put(userPath(owner.id), { language: 'sv' })).status, 204)
  assert.equal((await admin.put('_principals/resource/_admins', [chief.id])).status, 204)
  await admin.put(`quota/users/${user.id}`, { quota: 100 })
  const visitor = service.visitor()
  await visitor.signIn('anna@example.org', GOOD_PASSWORD)
  const own = await newContext(admin, [user.id, owner.id])
  await admin.put(`quota/contexts/${own}`, { quota: 1000, maxFiles: 2 })
  await admin.put('quota/store', { maxFiles: 2 })

  assert.equal((await putFile(visitor, `${own}/resource/${await newEntry(visitor, own)}`, 'x'.repeat(85))).status, 201)
  assert.match(await textOf('anna@example.org'), /Your files have reached 80 % of your quota\./)
  assert.equal((await putFile(visitor, `${own}/resource/${await newEntry(visitor, own)}`, 'x'.repeat(3))).status, 201)
  const toOwner = await textOf('owner@example.org')
  assert.match(toOwner, /Filerna i utrymmet .* har nått 100 %/)
  assert.match(toOwner, new RegExp(`ui/contexts/${own}/files`))
  assert.match(await textOf('chief@example.org'), /whole service[^]*100 %/)
  // That of the context comes to its user after those of the growth before, which have all been sent.
  assert.match(await textOf('anna@example.org', 2), /space/)
  assert.deepEqual(
    ['anna@example.org', 'owner@example.org', 'chief@example.org'].map(mailsTo),
    [2, 1, 1],
    'nobody gets one twice',
  )
})
