import { text } from '../../config/kinds.ts'

export const feedSettings = {
  title: 'Feeds',
  rows: {
    'service.syndication.url-template.<name>': text({
      live: true,
      help: 'Address to which the items of a feed lead if the request for the feed has `urltemplate=<name>`; `default`: of every other feed. `{contextid}`, `{entryid}`, `{entryuri}` and `{resourceuri}` are replaced. Without it an item leads to its resource.',
    }),
  },
} as const
