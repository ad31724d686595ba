import { text } from '../../config/kinds.ts'

export const uiSettings = {
  title: 'Pages',
  rows: {
    'service.contact': text({
      expects: 'an e-mail address, or the address of a web page (`https://…`)',
      matches: /^([^\s@<>/?]+@[^\s@<>/?]+|https?:\/\/\S+)$/,
      help: 'Where users without a context ask for a context. The pages offer this address to them as *Ask for a space*; everybody can read this address.',
    }),
  },
} as const
