import { offer, optionalFeature } from '../../core/feature.ts'
import { sendsMails } from '../../core/sends-mails.ts'
import { shareMailCodes } from './codes.ts'
import { shareMailEvents } from './events.ts'
import { shareMailRoutes } from './routes.ts'
import { ShareMails } from './share-mails.ts'
import { shareMailOptions } from './texts.ts'

export const shareMails = optionalFeature({
  name: 'share-mails',
  codes: shareMailCodes,
  events: shareMailEvents,
  routes: shareMailRoutes,
  isOn: ({ settings }) => sendsMails(settings),
  open: core => {
    const { mails, ui, address } = core
    if (!mails) throw new TypeError('messages about shared entries need the queue of mails')
    const shareMails = new ShareMails({ ...core, ...shareMailOptions(ui, address), mails })
    return { offers: offer({ shareMails }, shareMailRoutes) }
  },
})
