import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { EntryStore } from '@entryscape/entrystore-js'
import {
  adminAt,
  newContextAt,
  newName,
  rejectsWith,
  reload,
  signedIn,
  twice,
  USER_PASSWORD,
} from '../support/client.ts'
import { startProcess } from '../support/service.ts'

const service = await startProcess({ after })

twice(rule => {
  rule('an application signs in and out, and reads its current user (W3.1)', async () => {
    const store = new EntryStore(service.base)
    const { uri, ...guest } = await store.getUserInfo()
    assert.deepEqual(guest, { user: 'guest', id: '_guest', clientAcceptLanguage: {} })
    assert.match(uri ?? '', /\/_principals\/entry\/_guest$/)
    assert.equal((await store.getUserEntry()).getId(), '_guest')
    await rejectsWith(401, store.auth({ user: 'admin', password: 'not the password' }))

    const admin = await adminAt(service)
    const heard: string[] = []
    admin.getAuth().addAuthListener(topic => heard.push(topic))
    const entry = await admin.getUserEntry()
    assert.equal(entry.getId(), '_admin')
    assert.ok(entry.isUser())
    assert.equal(entry.getResource(true).getName(), 'admin')
    assert.equal((await admin.getAuth().getUserInfo(true)).user, 'admin')
    assert.equal((await admin.logout()).user, 'guest')
    assert.deepEqual(heard, ['logout'])
    assert.equal((await admin.getAuth().getUserInfo(true)).user, 'guest')
    await rejectsWith(401, admin.newContext().commit())
  })

  rule('a user created by the application signs in and changes their own data (W3.8.4)', async () => {
    const admin = await adminAt(service)
    const name = newName('anna')
    const home = await newContextAt(admin)
    const made = await admin.newUser(name, USER_PASSWORD, home.getId()).addL('foaf:name', 'Anna').commit()
    assert.equal(made.getResource(true).getName(), name)
    assert.equal(made.getResource(true).getHomeContext(), home.getId())
    assert.equal((await (await home.getEntry()).refresh(true, true)).getReferrers('store:homeContext').length, 1)
    assert.equal((await home.getHomeContextOf()).getURI(), made.getURI())

    const store = await signedIn(service, name)
    assert.equal((await store.getUserInfo()).homecontext, home.getId())
    const own = await store.getUserEntry()
    const user = own.getResource(true)
    await user.setLanguage('sv')
    await user.setCustomProperties({ theme: 'dark', size: '12' })
    assert.equal((await store.getAuth().getUserInfo(true)).language, 'sv')
    await rejectsWith(403, user.setPassword('Other-Password-34'))
    await rejectsWith(403, user.setPassword('Other-Password-34', 'not the current one'))
    await rejectsWith(400, user.setPassword('weak', USER_PASSWORD))
    await user.setPassword('Other-Password-34', USER_PASSWORD)
    assert.equal((await store.getAuth().getUserInfo(true)).user, name, 'his own session goes on')
    await rejectsWith(401, signedIn(service, name))
    const again = await signedIn(service, name, 'Other-Password-34')
    const seen = (await again.getUserEntry()).getResource(true)
    assert.deepEqual([seen.getLanguage(), seen.getCustomProperties()], ['sv', { theme: 'dark', size: '12' }])
    await own.addL('dcterms:description', 'Reader').commitMetadata()
    await rejectsWith(403, own.getEntryInfo().commit())
  })

  rule('admin renames and disables a user, who is signed out at once (W3.8.4)', async () => {
    const admin = await adminAt(service)
    const name = newName('bert')
    const entry = await admin.newUser(name, USER_PASSWORD).commit()
    const store = await signedIn(service, name)
    const user = entry.getResource(true)
    await user.setName(`${name}-renamed`)
    assert.equal((await store.getAuth().getUserInfo(true)).user, `${name}-renamed`, 'a rename keeps the session')
    await user.setDisabled(true)
    assert.equal((await store.getAuth().getUserInfo(true)).user, 'guest')
    await rejectsWith(403, signedIn(service, `${name}-renamed`))
    assert.equal((await reload(entry)).getResource(true).isDisabled(), true)
    await user.setDisabled(false)
    await signedIn(service, `${name}-renamed`)
    await rejectsWith(409, admin.newUser(`${name}-renamed`, USER_PASSWORD).commit())
    await entry.del()
    await rejectsWith(404, admin.getEntry(entry.getURI()))
  })
})
