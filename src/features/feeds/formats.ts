/** What readers of feeds show. Texts are plain, addresses are absolute. */
export interface Feed {
  readonly title: string
  readonly description: string
  /** What the feed is about. */
  readonly link: string
  /** The name of this service. */
  readonly author: string
  readonly items: readonly FeedItem[]
}

export interface FeedItem {
  /** Never changes. */
  readonly id: string
  readonly title: string
  readonly description: string | undefined
  readonly link: string
  readonly created: Date
  readonly modified: Date
}

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
const DC = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'

/**
 * The forms of a feed by the words that ask for them. They are written here, because the usual packages put texts into CDATA sections and
 * let the text end them.
 */
export const formats = {
  'rss_2.0': { mediaType: 'application/rss+xml', write: writeRss },
  'atom_1.0': { mediaType: 'application/atom+xml', write: writeAtom },
} as const

function writeRss({ title, description, link, items }: Feed): string {
  const head = [element('title', title), element('link', link), element('description', asHtml(description))]
  const shown = items.map(item =>
    [
      '<item>',
      element('title', item.title),
      element('link', item.link),
      item.description === undefined ? '' : element('description', asHtml(item.description)),
      `<guid isPermaLink="false">${escaped(item.id)}</guid>`,
      element('pubDate', item.created.toUTCString()),
      element('dc:date', item.modified.toISOString()),
      '</item>',
    ].join(''),
  )
  return `${DECLARATION}<rss version="2.0" ${DC}><channel>${[...head, ...shown].join('\n')}</channel></rss>\n`
}

function writeAtom({ title, description, link, author, items }: Feed): string {
  const latest = Math.max(0, ...items.map(({ modified }) => modified.getTime()))
  const head = [
    element('title', title),
    linkTo(link),
    element('id', link),
    element('updated', new Date(latest).toISOString()),
    element('subtitle', description),
    `<author>${element('name', author)}</author>`,
  ]
  const shown = items.map(item =>
    [
      '<entry>',
      element('title', item.title),
      linkTo(item.link),
      element('id', item.id),
      element('published', item.created.toISOString()),
      element('updated', item.modified.toISOString()),
      item.description === undefined ? '' : `<summary type="text">${escaped(item.description)}</summary>`,
      '</entry>',
    ].join(''),
  )
  return `${DECLARATION}<feed xmlns="http://www.w3.org/2005/Atom" ${DC}>${[...head, ...shown].join('\n')}</feed>\n`
}

const linkTo = (href: string): string => `<link rel="alternate" href="${escaped(href)}"/>`

const element = (name: string, text: string): string => `<${name}>${escaped(text)}</${name}>`

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '&#13;',
}

/** Characters that XML does not allow are replaced, because one of them would make the whole feed unreadable. */
const escaped = (text: string): string =>
  text
    .toWellFormed()
    // oxlint-disable-next-line no-control-regex -- control characters are just what XML cannot hold
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replaceAll(/[&<>"\r]/g, found => entities[found] ?? found)

/** Descriptions of RSS are HTML: a reader must not take the text of a user for markup. */
const asHtml = (text: string): string => text.replaceAll(/[&<>]/g, found => entities[found] ?? found)
