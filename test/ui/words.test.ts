import assert from 'node:assert/strict'
import { test } from 'node:test'
import { visible } from '../../ui/lib/text.ts'
import { en } from '../../ui/messages/en.ts'
import de from '../../ui/messages/de.ts'
import sv from '../../ui/messages/sv.ts'
import { startFilesService } from '../support/files-page.ts'
import { newPerson, openBrowser } from '../support/ui.ts'

const inBrowser = await openBrowser()
const { service, store, atFiles } = await startFilesService()

test('joiners stay where a script or an emoji needs them; elsewhere they are shown', () => {
  for (const name of ['👩‍👧', '👩🏽‍🚒', 'نمی‌خواهم', 'क्‍ष']) assert.equal(visible(name), name)
  assert.equal(visible('pay\u200Dpal'), 'pay‹U+200D›pal')
  assert.equal(visible('\u200Cx'), '‹U+200C›x')
})

test('the pages say space, Bereich and utrymme for a context', () => {
  const said = (messages: Readonly<Record<string, string>>, word: RegExp): string[] =>
    Object.values(messages).filter(message => word.test(message) && !message.includes('EntryStore'))
  assert.deepEqual([...said(en, /\bcontext/i), ...said(de, /kontext/i), ...said(sv, /kontext/i)], [])
})

inBrowser('the list names types in words, and by the extension where the media type says nothing', async b => {
  const { page, complaints, close } = await newPerson(b, { viewport: { width: 1280, height: 900 } })
  const context = await atFiles(page)
  const files = [
    ['notes.md', 'text/markdown', 'Text'],
    ['photo.png', 'image/png', 'Image'],
    ['setup.exe', 'application/x-ms-dos-executable', 'EXE'],
    ['sheet.xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'Spreadsheet'],
    ['unknown', 'application/octet-stream', 'File'],
  ] as const
  for (const [name, type] of files) await store(context, name, 'x', type)
  await page.goto(`${service.base}ui/contexts/${context}/files`)
  for (const [name, , word] of files)
    await page.getByRole('row').filter({ hasText: name }).filter({ hasText: word }).waitFor()
  assert.deepEqual(complaints, [])
  await close()
})
